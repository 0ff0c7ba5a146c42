// More threadgroup memory than Metal offers.
// RUN: --kernel greedy --threads 1 --group 1 --arg x=f32[2]=ones
// ERROR limit_exceeded: 32
kernel void greedy(device float* x) {
  threadgroup float t[8193];
  t[x[0] > 0 ? 8192 : 0] = x[0];
  x[1] = t[8192];
}
