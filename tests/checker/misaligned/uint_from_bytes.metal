// A length field of four bytes behind a header of one.
// CHECK: --threads 1 --group 1 --arg message=u8[8]=1,5,0,0,0,9,9,9 --arg out=u32[1]=zeros
// FINDS: misaligned field
#include <metal_stdlib>
using namespace metal;

kernel void length_of(device const uchar* message, device uint* out) {
#ifdef REPAIRED
  uint length = 0;
  for (uint k = 0; k < 4; ++k) length |= uint(message[1 + k]) << (8 * k);
  out[0] = length;
#else
  out[0] = *(device const uint*)(message + 1);  // @field
#endif
}
