// Powers of zeros and infinities in fast math, which makes roots and products of those with exponents that are constants.
#include <metal_stdlib>
using namespace metal;

kernel void constants(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {
  device float* to = y + 8 * i;
  to[0] = pow(x[i], 2.5f);
  to[1] = pow(x[i], 1.5f);
  to[2] = pow(x[i], -2.5f);
  to[3] = pow(x[i], -1.5f);
  to[4] = pow(x[i], 0.5f);
  to[5] = pow(x[i], -3.0f);
  to[6] = pow(x[i], 3.0f);
  to[7] = pow(x[i], 0.0f);
}
// Of minus infinity, 0, infinity and 4.
// RUN: --kernel constants --threads 4 --group 4 --arg y=f32[4,8]=zeros --arg x=f32[4]=-inf,0,inf,4
// EXPECT y ~1e-6: inf inf 0 0 inf 0 -inf 1  0 0 inf inf 0 inf 0 1  inf inf 0 0 inf 0 inf 1
// EXPECT+: 32 8 0.03125 0.125 2 0.015625 64 1

template <typename T>
void inverses(device T* y, device const T* x, uint i) {
  y[4 * i] = pow(x[i], T(-0.5f));
  y[4 * i + 1] = abs(pow(x[i], T(0.5f)));
  y[4 * i + 2] = 1 / sqrt(x[i]);
  y[4 * i + 3] = 3 / (sqrt(x[i]) * 2);
}
kernel void inverse_roots(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {
  inverses(y, x, i);
}
kernel void inverse_roots_of_halves(device half* y, device const half* x, uint i [[thread_position_in_grid]]) {
  inverses(y, x, i);
}
// Processors have estimates of 1 / sqrt(x), which are no numbers for these once they are made better.
// RUN: --kernel inverse_roots --threads 6 --group 6 --arg y=f32[6,4]=zeros --arg x=f32[6]=-inf,-0.0,0,inf,4,nan
// EXPECT y ~1e-6: 0 inf nan nan inf 0 -inf -inf inf 0 inf inf 0 inf 0 0 0.5 2 0.5 0.75 nan nan nan nan
// RUN: --kernel inverse_roots_of_halves --threads 6 --group 6 --arg y=f16[6,4]=zeros --arg x=f16[6]=-inf,-0.0,0,inf,4,nan
// EXPECT y ~1e-3: 0 inf nan nan inf 0 -inf -inf inf 0 inf inf 0 inf 0 0 0.5 2 0.5 0.75 nan nan nan nan

// C23 F.10.4.4.
kernel void powers(device float* y, device const float* a, device const float* b, uint i [[thread_position_in_grid]]) {
  y[i] = pow(a[i], b[i]);
}
// RUN: --kernel powers --threads 16 --group 16 --arg y=f32[16]=zeros
// RUN+: --arg a=f32[16]=-inf,-inf,-inf,-inf,0,0,inf,inf,-1,-2,-2,1,1,0.5,0.5,nan
// RUN+: --arg b=f32[16]=2.5,3,-3,-2,2,-1,-1,0,inf,3,2,inf,nan,inf,-inf,0
// EXPECT y ~1e-6: inf -inf 0 0 0 inf 0 1 1 -8 4 1 1 0 inf 1

kernel void roots(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {
  y[3 * i] = powr(x[i], 2.5f);
  y[3 * i + 1] = powr(x[i], -1.5f);
  y[3 * i + 2] = fmod(7.5f, abs(x[i]));
}
// RUN: --kernel roots --threads 3 --group 3 --arg y=f32[3,3]=zeros --arg x=f32[3]=0,inf,4
// EXPECT y ~1e-6: 0 inf nan inf 0 7.5 32 0.125 3.5

kernel void logarithms(device float* y, device const float* x, uint i [[thread_position_in_grid]]) {
  y[3 * i] = log(x[i]);
  y[3 * i + 1] = log2(x[i]);
  y[3 * i + 2] = log10(x[i]);
}
// RUN: --kernel logarithms --threads 6 --group 6 --arg y=f32[6,3]=zeros --arg x=f32[6]=0,1,inf,-1,0.001,100
// EXPECT y ~1e-6: -inf -inf -inf 0 0 0 inf inf inf nan nan nan -6.9077554 -9.9657843 -3 4.6051702 6.6438562 2
