// A butterfly whose mask depends on the lane: 1 for the first half of the simdgroup, 2 for the other.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=f32[32]=zeros
// FINDS: non-uniform swap
#include <metal_stdlib>
using namespace metal;

template <typename T>
T swapped(T value, ushort mask) {
#ifdef REPAIRED
  const T near = simd_shuffle_xor(value, ushort(1)), far = simd_shuffle_xor(value, ushort(2));
  return mask == 1 ? near : far;
#else
  return simd_shuffle_xor(value, mask);  // @swap
#endif
}

kernel void swap(device const float* x, device float* out, ushort lane [[thread_index_in_simdgroup]]) {
  out[lane] = swapped(x[lane], ushort(lane < 16 ? 1 : 2));
}
