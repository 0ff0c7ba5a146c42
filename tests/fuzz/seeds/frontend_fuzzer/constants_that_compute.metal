#include <metal_stdlib>
using namespace metal;
constant uint n [[function_constant(0)]];
constant uint3 size = uint3(n, 20u, 1u);
constant float s = sin(1.0f), r = sqrt(2.0f), p = pow(2.0f, 0.5f), w = floor(-1.5f);
constant uint bits = popcount(0xffu);
constexpr int sum(int k) { int total = 0; for (int i = 0; i < k; ++i) total += i; return total; }
constant int total = sum(100);
kernel void f(device float* x) { x[0] = size.x + s + r + p + w + bits + total; }
