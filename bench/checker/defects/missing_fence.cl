// A barrier that names threadgroup memory, between accesses of device memory.
kernel void missing_fence(global uint* x, global uint* out) {
  const uint i = get_local_id(0);
  x[i] = i;  // wrong
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = x[63 - i];  // wrong
}
