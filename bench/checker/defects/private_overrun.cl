// Writes behind a thread's own array.
kernel void private_overrun(global uint* x) {
  const uint i = get_global_id(0);
  uint own[4] = {1, 2, 3, 4};
  own[x[i] % 5] = i;  // wrong
  x[i] = own[x[i] % 4];
}
