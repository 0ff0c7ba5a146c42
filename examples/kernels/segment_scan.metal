// Running sums within segments, with threadgroup memory whose length the host decides.
//
// A threadgroup scans one segment of as many elements as it has threads: in step k every thread adds the
// element 2^k places before its own. Two copies of the segment take turns, so that no step reads what another
// thread of the same step has written. The host sets the length of both: 2 * threads * 4 bytes.
//
//   metalloid run examples/kernels/segment_scan.metal --kernel segment_scan --threadgroups 4 --group 100
//       --threadgroup-memory 0=800 --arg out=f32[400]=zeros --arg in=f32[400]=ones
#include <metal_stdlib>
using namespace metal;

kernel void segment_scan(device float* out [[buffer(0)]],
                         device const float* in [[buffer(1)]],
                         threadgroup float* scratch [[threadgroup(0)]],
                         uint position [[thread_position_in_grid]],
                         uint i [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]]) {
  threadgroup float* current = scratch;
  threadgroup float* other = scratch + threads;
  current[i] = in[position];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint distance = 1; distance < threads; distance *= 2) {
    other[i] = i >= distance ? current[i] + current[i - distance] : current[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    threadgroup float* swapped = current;
    current = other;
    other = swapped;
  }
  out[position] = current[i];
}
