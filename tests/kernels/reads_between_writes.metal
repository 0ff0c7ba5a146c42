// Reads of a thread between its writes to another argument: side by side, so that they are joined where the arguments are
// apart, and in their order where a write meets a later read.
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const int* a [[buffer(0)]], device const int* b [[buffer(1)]], device int* sum [[buffer(2)]],
                 constant uint& size [[buffer(3)]], uint index [[thread_position_in_grid]]) {
  index *= 2;
  if (index + 2 > size) {
    for (uint i = 0; index + i < size; ++i) sum[index + i] = a[index + i] + b[index + i];
  } else {
    for (uint i = 0; i < 2; ++i) sum[index + i] = a[index + i] + b[index + i];
  }
}
// RUN: --kernel sums --threads 4 --group 4 --arg a=i32[7]=arange --arg b=i32[7]=7,6,5,4,3,2,1 --arg sum=i32[7]=zeros --arg size=7
// EXPECT sum: 7 7 7 7 7 7 7
// In place.
// RUN: --kernel sums --threads 4 --group 4 --arg a=i32[7]=arange --arg b=i32[7]=7,6,5,4,3,2,1 --arg sum=@a --arg size=7
// EXPECT sum: 7 7 7 7 7 7 7

// Threads lie four apart, so that none touches what is another's, also where the sum begins one element further.
kernel void running_sums(device const int* x [[buffer(0)]], device int* sum [[buffer(1)]],
                         device const int* step [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  i *= 4;
  sum[i] = x[i] + 1;
  sum[i + 1] = x[i + 1] + step[0];
}
// RUN: --kernel running_sums --threads 3 --group 3 --arg x=i32[12]=arange --arg sum=i32[12]=zeros --arg step=i32[1]=2
// EXPECT sum: 1 3 0 0 5 7 0 0 9 11 0 0
// RUN: --kernel running_sums --threads 3 --group 3 --arg x=i32[13]=arange --arg sum=@x+4 --arg step=i32[1]=2
// EXPECT x: 0 1 3 3 4 5 7 7 8 9 11 11 12
// The step is what was just written.
// RUN: --kernel running_sums --threads 1 --group 1 --arg x=i32[4]=arange --arg sum=i32[4]=zeros --arg step=@sum
// EXPECT sum: 1 2 0 0

// Another place for the factors than for the sums.
kernel void scaled(device const int* x [[buffer(0)]], device int* y [[buffer(1)]], device const int* factors [[buffer(2)]],
                   constant uint& stride [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  for (uint j = 0; j < 4; ++j) y[4 * i + j] = x[4 * i + j] * factors[stride * j];
}
// RUN: --kernel scaled --threads 2 --group 2 --arg x=i32[8]=arange --arg y=i32[8]=zeros --arg factors=i32[4]=1,2,3,4 --arg stride=1
// EXPECT y: 0 2 6 12 4 10 18 28
// RUN: --kernel scaled --threads 1 --group 1 --arg x=i32[4]=5,6,7,8 --arg y=i32[4]=1,1,1,1 --arg factors=@y --arg stride=0
// EXPECT y: 5 30 35 40
