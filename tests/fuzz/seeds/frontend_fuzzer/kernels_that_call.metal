kernel void g(device int* x) { x[0] = 1; }
kernel void f(device int* x) { g(x); f(x); }
int again(int n) { return n == 0 ? 0 : again(n - 1) + 1; }
kernel void h(device int* x) { x[0] = again(x[0]); }
