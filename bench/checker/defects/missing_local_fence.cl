// A barrier that names device memory, between accesses of threadgroup memory.
kernel void missing_local_fence(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  t[i] = x[i];  // wrong
  barrier(CLK_GLOBAL_MEM_FENCE);
  x[i] = t[63 - i];  // wrong
}
