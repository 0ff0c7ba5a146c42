// Reads the element after the last one of an argument.
kernel void read_past_end(global const uint* x, global uint* out) {
  const uint i = get_global_id(0);
  out[i] = x[i + 1];  // wrong
}
