// Clang's attributes, builtin functions and hints that sources may use: what they compute, and that the others mean
// nothing for the result.
#include <metal_stdlib>
using namespace metal;

__attribute__((always_inline, unused)) inline int inlined(int x) { return x + 1; }
[[gnu::noinline]] int called(int x) { return x * 2; }
__attribute__((used, pure, cold, minsize)) int used(int x) { return x - 1; }
__attribute__((optnone, noinline)) int unoptimised(int x) { return x * x; }
__attribute__((overloadable)) int overloaded(int) { return 1; }
__attribute__((overloadable)) int overloaded(float) { return 2; }
[[clang::always_inline]] [[nodiscard]] int nodiscarded(int x [[maybe_unused]]) { return 5; }
__attribute__((flatten)) __attribute__((const)) __attribute__((visibility("hidden"))) int hidden(int x) { return -x; }
__attribute__((deprecated("x"), warn_unused_result, fancy(3))) int undefined();
[[noreturn]] void never() { __builtin_unreachable(); }
[[clang::annotate("dsl.helper", 1, "x")]] int annotated(int x) {
  [[clang::annotate("y")]] int z = x;
  return z * 10;
}
struct __attribute__((packed)) Packed {
  char c;
  int i;
};
struct __attribute__((aligned(32))) Aligned {
  char c;
};
enum __attribute__((enum_extensibility(closed), flag_enum)) Flags { one = 1, two = 2 };
typedef float __attribute__((may_alias)) aliasing_float;

// RUN: --kernel attributes --threads 1 --group 1 --arg x=i32[10]=3 --arg unused=i32[1]=zeros
// EXPECT x: 4 6 2 9 3 5 -3 30 5 34
__attribute__((annotate("dsl.kernel"))) kernel void attributes(device int* x [[buffer(0)]] [[clang::annotate("dsl")]],
                                                               device int* unused [[buffer(1)]] [[maybe_unused]],
                                                               uint i [[maybe_unused]] [[thread_position_in_grid]]) {
  x[0] = inlined(x[0]);
  x[1] = called(x[1]);
  x[2] = used(x[2]);
  x[3] = unoptimised(x[3]);
  x[4] = overloaded(x[4]) + overloaded(1.0f);
  x[5] = nodiscarded(3);
  x[6] = hidden(x[6]);
  x[7] = annotated(x[7]);
  x[8] = __builtin_offsetof(Packed, i) + sizeof(Packed) - one;
  x[9] = sizeof(Aligned) + two;
  if (x[9] == 0) never();
}

// RUN: --kernel hints --threads 1 --group 1 --arg x=i32[8]=1,2,3,4,5,6,7,8
// EXPECT x: 4 6 8 10 5 100 7 9
kernel void hints(device int* x) {
  [[clang::opencl_unroll_hint(4)]] for (int i = 0; i < 4; ++i) x[i] += 1;
  __attribute__((opencl_unroll_hint)) for (int i = 0; i < 4; ++i) x[i] += 1;
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; ++i) x[i] += i;
  _Pragma("unroll(4)") for (int i = 0; i < 4; ++i) x[i] += 1;
  if (__builtin_expect(x[4] > 0, 1)) [[likely]] x[0] = x[0];
  __builtin_assume(x[6] == 7);
  switch (x[5]) {
    case 6: x[5] = 10; [[fallthrough]];
    case 7: x[5] *= 10; break;
    default: x[6] = 0;
  }
#if __has_builtin(__builtin_popcount) && __has_attribute(noinline)
  x[7] += __is_same(int, int);
#endif
}

// RUN: --kernel builtins --threads 1 --group 1 --arg x=u32[8]=40 --arg out=u32[8]=zeros
// EXPECT out: 2 26 3 1065353216 1 671088640 0 1
kernel void builtins(device uint* x, device uint* out) {
  out[0] = __builtin_popcount(x[0]);
  out[1] = __builtin_clz(x[1]);
  out[2] = __builtin_ctz(x[2]);
  out[3] = __builtin_bit_cast(uint, 1.0f);
  out[4] = __builtin_isnan(__builtin_nanf("")) && __builtin_isinf(__builtin_inff());
  out[5] = __builtin_bswap32(x[3]);
  int product;
  out[6] = __builtin_mul_overflow(int(x[4]), 3, &product) || product != 120;
  out[7] = __builtin_fabsf(-float(x[5])) == __builtin_sqrtf(1600.0f);
}

// RUN: --kernel float_builtins --threads 1 --group 1 --arg x=f32[4]=0.5,2,1.5,-3 --arg out=f32[7]=zeros
// EXPECT out ~1e-6: 0.46211716 2.3524096 0.24497866 3.375 0.5 inf 2
kernel void float_builtins(device float* x, device float* out) {
  out[0] = __builtin_tanhf(x[0]);
  out[1] = __builtin_coshf(x[2]);
  out[2] = __builtin_atan2f(x[0], x[1]);
  out[3] = __builtin_powf(x[2], 3.0f);
  out[4] = __builtin_fmodf(6.5f, x[1]);
  out[5] = __builtin_huge_valf();
  out[6] = __builtin_fmaxf(x[1], x[3]);
}

// RUN: --kernel aligned --threads 1 --group 1 --arg x=f32[8]=1,2,3,4,5,6,7,8 --arg c=f32[4]=1,2,3,4
// EXPECT x: 11 22 33 44 3 5 26 8
kernel void aligned(device float* x, constant float* c) {
  device float4* vectors = (device float4*)__builtin_assume_aligned(x, 16);
  const constant float4* factors = static_cast<constant float4*>(__builtin_assume_aligned(c, 16, 0));
  threadgroup float shared[4];
  thread float mine[4];
  shared[1] = 3;
  mine[3] = 5;
  vectors[0] = vectors[0] * 10 + factors[0];
  x[4] = ((threadgroup float2*)__builtin_assume_aligned(shared, 8))->y;
  x[5] = reinterpret_cast<thread float4*>(__builtin_assume_aligned(mine, 4))->w;
  const device float* tail = (const device float*)__builtin_assume_aligned(x + 4, 4);
  x[6] = tail[0] * 7 + tail[1];
}

// RUN: --kernel bytes --threads 1 --group 1 --arg x=u32[4]=1,2,3,4 --arg y=u32[4]=zeros
// EXPECT x: 0 2 3 4
// EXPECT y: 1 1 2 3
kernel void bytes(device uint* x, device uint* y) {
  __builtin_memcpy(y, x, 16);
  __builtin_memmove(y + 1, y, 12);
  __builtin_memset(x, 0, 4);
  __builtin_prefetch(x);
  device uint* first = __builtin_addressof(*__builtin_launder(x));
  *first += 0;
}
