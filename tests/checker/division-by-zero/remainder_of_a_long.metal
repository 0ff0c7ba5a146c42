// A hash table of 64-bit keys whose capacity is computed in a shift too far.
// CHECK: --threads 4 --group 4 --arg keys=u64[4]=5,17,99,100 --arg out=u32[4]=zeros --arg bits=16
// FINDS: division-by-zero slot
#include <metal_stdlib>
using namespace metal;

kernel void slots(device const ulong* keys, device uint* out, constant uint& bits,
                  uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  const ulong capacity = 1ul << bits;
#else
  const ulong capacity = ushort(1u << bits);
#endif
  out[i] = uint(keys[i] % capacity);  // @slot
}
