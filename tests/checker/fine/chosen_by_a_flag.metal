// What was never set takes part in arithmetic, and the result is not used.
// CHECK: --threads 8 --group 8 --arg x=f32[5]=arange --arg out=f32[8]=zeros --arg n=5
#include <metal_stdlib>
using namespace metal;

struct Flags {
  uint low : 4;
  uint high : 12;
};

kernel void doubled(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  float value;
  if (i < n) value = x[i];
  const float twice = value * 2 + 1;
  Flags flags;
  flags.low = i;
  flags.high = i + 1;
  uint packed;
  thread uchar* bytes = (thread uchar*)&packed;
  bytes[0] = uchar(i);
  out[i] = (i < n ? twice : 0.0f) + float(flags.low + flags.high) + float(packed & 0xff);
}
