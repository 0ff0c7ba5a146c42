// The same with a store of four halves, in a helper that takes any vector.
// CHECK: --threads 8 --group 8 --arg out=f16[30]=zeros --arg n=30
// FINDS: out-of-bounds store
#include <metal_stdlib>
using namespace metal;

template <typename T>
void store_4(device T* to, vec<T, 4> v, uint left) {
#ifdef REPAIRED
  for (uint k = 0; k < min(left, 4u); ++k) to[k] = v[k];
#else
  *reinterpret_cast<device vec<T, 4>*>(to) = v;  // @store
#endif
}

kernel void fill(device half* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  store_4(out + 4 * i, half4(half(i)), n - 4 * i);
}
