// Two kernels are made by one macro, whose body has more than one thing wrong with it, some of them in one line
// (test_macros.py knows which).
// CHECK: --threads 64 --group 64 --kernel sums_float --arg x=f32[65]=arange --arg out=f32[64]=zeros
// FINDS: threadgroup-race
// FINDS: out-of-bounds
// FINDS: uninitialised
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
#define BARRIER threadgroup_barrier(mem_flags::mem_threadgroup);
#define ZERO = 0
#define PLACE(i) i
#else
#define BARRIER
#define ZERO
#define PLACE(i) (i == 63 ? 64 : i)
#endif

#define SUMS(T)                                                                                  \
  kernel void sums_##T(device const T* x, device T* out, uint i [[thread_position_in_grid]]) {   \
    threadgroup T t[64];                                                                         \
    t[i] = x[i];                                                                                 \
    BARRIER                                                                                      \
    T a ZERO, b ZERO;                                                                            \
    if (x[64] < 0) a = b = 1;                                                                    \
    T sum = t[(i + 32) % 64];                                                                    \
    sum = sum * a; for (; b > 2; b -= 1) sum += 1;                                               \
    out[PLACE(i)] = sum;                                                                         \
  }

SUMS(float)
SUMS(half)
