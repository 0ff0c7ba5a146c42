#define LEVEL(n, m) float f##n(float x) { return f##m(x) * f##m(x + 1.0f); }
float f0(float x) { return x * 3.0f; }
LEVEL(1, 0) LEVEL(2, 1) LEVEL(3, 2) LEVEL(4, 3) LEVEL(5, 4) LEVEL(6, 5) LEVEL(7, 6) LEVEL(8, 7)
kernel void f(device float* x) { x[0] = f8(x[0]); }
