kernel void f(device float* x) {
#pragma clang loop unroll_count(100000)
  for (int i = 0; i < 1000000; ++i) x[i & 7] += i;
#pragma unroll(1 << 30)
  for (int i = 0; i < 7; ++i) x[i] += 1;
}
