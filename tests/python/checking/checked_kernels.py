"""What the tests of this folder check."""

header = "#include <metal_stdlib>\nusing namespace metal;\n"
# Without REPAIRED a race of 64 threads: the lines that count are the 6th and the 10th, behind the header.
racy = """
kernel void turn(device const float* x, device float* y, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float tile[64];
  tile[i] = x[i];
#ifdef REPAIRED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  y[i] = tile[63 - i];
}
"""
