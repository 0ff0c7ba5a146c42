#include <metal_stdlib>
using namespace metal;
constant float table[4] = {1, 2, 3, 4};
constant int mode [[function_constant(0)]];
struct Params { uint n; float4 v; half h; };
template <typename T, int N> struct Box { T data[N]; T get(int i) const thread { return data[i & (N - 1)]; } };
template <typename T> [[kernel]] void k(device T* out [[buffer(0)]], constant Params& p [[buffer(1)]],
    threadgroup float* scratch [[threadgroup(0)]], uint3 id [[thread_position_in_grid]]) {
  threadgroup T tile[8][4];
  Box<T, 4> box;
  for (uint i = 0; i < p.n; ++i) { tile[i & 7][i & 3] = T(simd_sum(p.v.x) + table[i & 3]); }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  auto f = [&](auto x) { return x * T(2); };
  float4 a = p.v.wzyx; a.xy = a.yx * 2.0; half2 b = half2(1.0h, p.h);
  if (mode == 1) out[id.x] = f(tile[0][0]); else out[id.x] = T(select(a.x, float(b.y), id.y > 2u)) + box.get(1);
}
template [[host_name("k_float")]] [[kernel]] void k<float>(device float*, constant Params&, threadgroup float*, uint3);
