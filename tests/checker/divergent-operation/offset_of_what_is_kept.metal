// Compaction: the scan that gives each kept element its place runs inside of the condition, and its last value is
// believed to be the sum over all.
// CHECK: --threads 32 --group 32 --arg x=i32[32]=arange --arg out=i32[32]=zeros
// FINDS: divergent-operation scan
#include <metal_stdlib>
using namespace metal;

kernel void keep_odd(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  const bool keep = x[i] % 2 == 1;
#ifdef REPAIRED
  const uint place = simd_prefix_exclusive_sum(uint(keep));
  if (keep) out[place] = x[i];
#else
  if (keep) {
    const uint place = simd_prefix_exclusive_sum(1u);  // @scan
    out[place] = x[i];
  }
#endif
}
