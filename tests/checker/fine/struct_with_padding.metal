// The bytes between a struct's members, and those of a vector of three, are copied and never written.
// CHECK: --threads 4 --group 4 --arg x=f32[4]=arange --arg out=u8[48]=zeros --arg points=f32[4,4]=zeros
#include <metal_stdlib>
using namespace metal;

struct Record {
  uchar kind;
  float value;
  ushort count;
};

static Record made(float value, uint i) {
  Record record;
  record.kind = uchar(i);
  record.value = value;
  record.count = ushort(2 * i);
  return record;
}

kernel void copies(device const float* x, device Record* out, device float3* points,
                   uint i [[thread_position_in_grid]]) {
  Record record = made(x[i], i);
  Record other = record;
  other.count += record.kind;
  out[i] = other;
  float3 point;
  point.x = x[i];
  point.yz = float2(1, 2);
  points[i] = point * 2;
}
