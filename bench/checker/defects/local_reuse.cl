// Threadgroup memory that is filled again while others may still read it.
kernel void local_reuse(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  uint sum = 0;
  for (uint step = 1; step < 4; ++step) {
    t[i] = x[i] + step;  // wrong
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += t[(i + step) % 64];  // wrong
  }
  x[i] = sum;
}
