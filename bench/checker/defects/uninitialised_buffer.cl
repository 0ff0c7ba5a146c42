// Reads an argument that the host has not filled.
kernel void uninitialised_buffer(global uint* x, global uint* out) {
  const uint i = get_global_id(0);
  out[i] = x[i] + 1;  // wrong
}
