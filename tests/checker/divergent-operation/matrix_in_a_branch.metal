// A simdgroup matrix is stored by the lanes whose row exists; matrices belong to whole simdgroups.
// CHECK: --threads 32 --group 32 --arg a=f32[8,8]=arange --arg out=f32[8,8]=zeros --arg rows=8
// FINDS: divergent-operation store
#include <metal_stdlib>
using namespace metal;

kernel void copy(device const float* a, device float* out, constant uint& rows,
                 ushort lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m;
  simdgroup_load(m, a, 8);
#ifdef REPAIRED
  if (rows >= 8) simdgroup_store(m, out, 8);
#else
  if (lane < 2 * rows) simdgroup_store(m, out, 8);  // @store
#endif
}
