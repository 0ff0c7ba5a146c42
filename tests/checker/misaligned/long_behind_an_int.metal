// A record of an int and a long, written by a host that packs its structs.
// CHECK: --threads 3 --group 3 --arg records=u8[36]=arange --arg out=i64[3]=zeros
// FINDS: misaligned number
#include <metal_stdlib>
using namespace metal;

kernel void numbers(device const uchar* records, device long* out, uint i [[thread_position_in_grid]]) {
  device const uchar* number = records + 12 * i + 4;
#ifdef REPAIRED
  const packed_uint2 halves = *(device const packed_uint2*)number;
  out[i] = long(ulong(halves.y) << 32 | halves.x);
#else
  out[i] = *(device const long*)number;  // @number
#endif
}
