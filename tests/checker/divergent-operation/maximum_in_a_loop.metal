// Each lane has a list of its own length and takes the largest over all lanes in each turn; lanes whose list is over no
// longer take part.
// CHECK: --threads 32 --group 32 --arg lengths=u32[32]=arange --arg out=u32[32]=zeros
// FINDS: divergent-operation largest
#include <metal_stdlib>
using namespace metal;

kernel void longest(device const uint* lengths, device uint* out, uint i [[thread_position_in_grid]]) {
  uint largest = 0;
#ifdef REPAIRED
  const uint turns = simd_max(lengths[i]);
  for (uint k = 0; k < turns; ++k) largest = simd_max(k < lengths[i] ? k : 0);
#else
  for (uint k = 0; k < lengths[i]; ++k) {
    largest = simd_max(k);  // @largest
  }
#endif
  out[i] = largest;
}
