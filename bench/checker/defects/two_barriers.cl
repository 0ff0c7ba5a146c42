// Threads of two branches wait at two different barriers.
kernel void two_barriers(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  if (i < 32) {
    t[i] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // wrong
    x[i] += 1;
  } else {
    t[i] = 2 * x[i];
    barrier(CLK_LOCAL_MEM_FENCE);  // wrong
    x[i] += t[63 - i];
  }
}
