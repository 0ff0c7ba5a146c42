// Reads what a neighbour writes, with no barrier between.
kernel void local_race(global uint* x) {
  local uint t[64];
  const uint i = get_local_id(0);
  t[i] = x[i];
  x[i] = t[63 - i];  // wrong
}
