// A shift by a distance that each lane reads from memory.
// CHECK: --threads 32 --group 32 --arg x=i32[32]=arange --arg distances=u16[32]=arange --arg out=i32[32]=zeros
// FINDS: non-uniform shift
#include <metal_stdlib>
using namespace metal;

kernel void shifted(device const int* x, device const ushort* distances, device int* out,
                    ushort lane [[thread_index_in_simdgroup]]) {
#ifdef REPAIRED
  out[lane] = simd_shuffle(x[lane], ushort((lane + distances[lane]) % 32));
#else
  out[lane] = simd_shuffle_down(x[lane], ushort(distances[lane] % 4));  // @shift
#endif
}
