// 1 / a in BN254's field, by a power whose exponent has 254 bits.
#include "bn254.h"

using namespace metal;

kernel void modular_inversion(device Field* results [[buffer(0)]], device const Field* a [[buffer(1)]],
                              uint id [[thread_position_in_grid]]) {
  results[id] = invert(a[id]);
}
