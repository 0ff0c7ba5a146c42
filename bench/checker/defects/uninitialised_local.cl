// Reads threadgroup memory that nobody has written.
kernel void uninitialised_local(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  if (i < 32) t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[i] = t[63 - i];  // wrong
}
