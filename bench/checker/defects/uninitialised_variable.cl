// A variable that one way through the kernel does not set.
kernel void uninitialised_variable(global uint* x) {
  const uint i = get_global_id(0);
  uint value;
  if (x[i] > 10) value = x[i];
  x[i] = value + 1;  // wrong
}
