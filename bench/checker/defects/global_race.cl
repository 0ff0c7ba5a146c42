// Threadgroups shift an array in place: at their ends each reads what another writes.
kernel void global_race(global uint* x, uint n) {
  const uint i = get_global_id(0);
  const uint next = i + 1 < n ? x[i + 1] : 0;  // wrong
  barrier(CLK_GLOBAL_MEM_FENCE);
  x[i] = next;  // wrong
}
