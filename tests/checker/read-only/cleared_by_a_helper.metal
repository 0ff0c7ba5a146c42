// A helper that clears what it is given, and a caller that gives it a const buffer with const_cast.
// CHECK: --threads 8 --group 8 --arg x=i32[8]=arange --arg out=i32[8]=zeros
// FINDS: read-only clear
#include <metal_stdlib>
using namespace metal;

void take(device int* from, device int* to) {
  *to = *from;
#ifndef REPAIRED
  *from = 0;  // @clear
#endif
}

kernel void move(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  take(const_cast<device int*>(x + i), out + i);
}
