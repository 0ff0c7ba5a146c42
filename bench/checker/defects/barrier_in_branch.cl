// A barrier to which half of the threads come.
kernel void barrier_in_branch(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  t[i] = x[i];
  if (i < 32) barrier(CLK_LOCAL_MEM_FENCE);  // wrong
  x[i] = t[i];
}
