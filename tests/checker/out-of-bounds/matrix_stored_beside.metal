// The results of four simdgroups go to an output of three tiles.
// CHECK: --threads 128 --group 128 --arg out=f32[3,64]=zeros --arg tiles=3
// FINDS: out-of-bounds store
#include <metal_stdlib>
using namespace metal;

kernel void fill(device float* out, constant uint& tiles, uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(float(simdgroup));
#ifdef REPAIRED
  if (simdgroup < tiles)
#endif
    simdgroup_store(m, out + simdgroup * 64, 8);  // @store
}
