// Reads elements of a thread's own array that were not written.
kernel void uninitialised_private(global uint* x) {
  const uint i = get_global_id(0);
  uint own[4];
  for (uint k = 0; k < 3; ++k) own[k] = x[i] + k;
  x[i] = own[x[i] % 4];  // wrong
}
