// The mean of each segment, of which one is empty.
// CHECK: --threads 3 --group 3 --arg sums=i32[3]=10,0,9 --arg counts=i32[3]=2,0,3 --arg means=i32[3]=zeros
// FINDS: division-by-zero divide
#include <metal_stdlib>
using namespace metal;

kernel void mean(device const int* sums, device const int* counts, device int* means,
                 uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  means[i] = sums[i] / max(counts[i], 1);
#else
  means[i] = sums[i] / counts[i];  // @divide
#endif
}
