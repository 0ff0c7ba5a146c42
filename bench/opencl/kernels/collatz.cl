kernel void collatz(global uint* steps) {
  const uint i = get_global_id(0);
  uint value = i + 1, count = 0;
  while (value != 1) {
    value = (value & 1) != 0 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[i] = count;
}
