// Four elements are stored at once, three elements apart: the last of each vector is the first of the next one.
// CHECK: --threads 64 --group 64 --arg out=i16[256]=zeros
// FINDS: device-race store store
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
constant constexpr uint stride = 4;
#else
constant constexpr uint stride = 3;
#endif

kernel void fill(device short* out, uint i [[thread_position_in_grid]]) {
  *(device packed_short4*)(out + stride * i) = packed_short4(short4(1, 2, 3, 4) + short(10 * i));  // @store
}
