// Each element's share of the whole, where the whole is zero.
// CHECK: --also not-finite --threads 4 --group 4 --arg x=f32[4]=zeros --arg total=f32:0
// FINDS: not-finite share
#include <metal_stdlib>
using namespace metal;

kernel void shares(device float* x, constant float& total, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  x[i] = total != 0 ? x[i] / total : 0.0f;
#else
  x[i] = x[i] / total;  // @share
#endif
}
