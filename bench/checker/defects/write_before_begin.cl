// Writes the element before the first one of an argument.
kernel void write_before_begin(global uint* x) {
  const int i = get_global_id(0);
  x[i - 1] = i;  // wrong
}
