// A barrier is missing between the reads of threadgroup memory and the writes that follow an operation across lanes.
// Kernels in use have this flaw and work on Apple's hardware, where no simdgroup runs far ahead of the others.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel reuse --threads 1024 --group 1024 --arg x=i32[1024]=arange --arg y=i32[1]=zeros
// EXPECT y: 523776
kernel void reuse(device const int* x, device int* y, uint i [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup int shared[32];
  shared[simdgroup] = simd_max(x[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  int largest = simd_max(shared[lane]);
  int sum = simd_sum(x[i] + largest - 1023);
  if (lane == 0) shared[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = simd_sum(shared[lane]);
  if (i == 0) *y = sum;
}
