#define LEVEL(n, m) float f##n(float x) { return f##m(x) * f##m(x + 1.0f); }
float f0(float x) { return x * 3.0f; }
LEVEL(1, 0) LEVEL(2, 1) LEVEL(3, 2) LEVEL(4, 3) LEVEL(5, 4) LEVEL(6, 5) LEVEL(7, 6) LEVEL(8, 7)
LEVEL(9, 8) LEVEL(10, 9) LEVEL(11, 10) LEVEL(12, 11) LEVEL(13, 12) LEVEL(14, 13) LEVEL(15, 14)
LEVEL(16, 15) LEVEL(17, 16)
kernel void f(device float* x) { x[0] = f17(x[0]); }
