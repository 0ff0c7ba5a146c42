// Functions whose rare cases are code of their own, side by side in one thread and in threads that are neighbours.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel angles --threads 8 --group 8 --arg x=f32[8]=0.5,200000,1,300000000,0.25,-200000,2,7 --arg out=f32[8]=zeros --arg other=f32[8]=zeros
// EXPECT out ~1e-5: 0.47942554 -0.071451895 0.84147098 -0.43955205 0.24740396 0.071451895 0.90929743 0.6569866
// EXPECT other ~1e-5: 0.87758256 0.99744405 0.54030231 0.89821712 0.96891242 0.99744405 -0.41614684 0.75390225
kernel void angles(device const float* x, device float* out, device float* other, uint i [[thread_position_in_grid]]) {
  out[i] = sin(x[i]);
  other[i] = cos(x[i]);
}

// RUN: --kernel both --threads 4 --group 4 --arg x=f32[4]=0.5,200000,1,2 --arg y=f32[4]=2,3,-inf,-1 --arg out=f32[4]=zeros
// EXPECT out ~1e-5: 1.6070081 8e+15 2.3817733 0.99315059
kernel void both(device const float* x, device const float* y, device float* out, uint i [[thread_position_in_grid]]) {
  out[i] = sin(x[i]) + cos(x[i]) + pow(x[i], y[i]);
}

// RUN: --kernel of_vectors --threads 2 --group 2 --arg x=f32[2,4]=0.5,200000,1,300000000,0.25,-200000,2,7 --arg out=f32[2,4]=zeros
// EXPECT out ~1e-5: 1.8364336 0.85454026 2.2232443 0.019113017 1.4637203 1.1403478 1.402448 2.0678755
kernel void of_vectors(device const float4* x, device float4* out, uint i [[thread_position_in_grid]]) {
  out[i] = sin(x[i]) * 2 + cos(x[i]);
}
