// Two four-bit values to a byte, and an odd number of them: a thread per byte writes both of its values.
// CHECK: --threads 8 --group 8 --arg packed=u8[8]=arange --arg out=i8[15]=zeros --arg n=15
// FINDS: out-of-bounds high
#include <metal_stdlib>
using namespace metal;

kernel void unpack(device const uchar* packed, device char* out, constant uint& n,
                   uint i [[thread_position_in_grid]]) {
  out[2 * i] = char(packed[i] & 15) - 8;
#ifdef REPAIRED
  if (2 * i + 1 < n)
#endif
    out[2 * i + 1] = char(packed[i] >> 4) - 8;  // @high
}
