#define BITS 32
constant uint mask = (1u << BITS) - 1;
constant int shifted = 1 << 33, negative = 1 << -1, low = -2147483647 - 1;
kernel void f(device uint* x, device int* y) {
  x[0] = 1u << 33; x[1] = mask; x[2] = uint(-5.0f); x[3] = uint(1e30f); x[4] = 5u / 0u; x[5] = 7u % 0u;
  y[0] = low / -1; y[1] = low % -1; y[2] = int(1e30f); y[3] = int(0.0f / 0.0f); y[4] = shifted + negative; y[5] = -low;
}
