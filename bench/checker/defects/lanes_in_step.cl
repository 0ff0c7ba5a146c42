// The last steps of a tree of sums without barriers, as if lanes ran in step.
kernel void lanes_in_step(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  t[i] = x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < 16) {
    t[i] += t[i + 16];  // wrong
    t[i] += t[i + 8];  // wrong
  }
  if (i == 0) x[0] = t[0];
}
