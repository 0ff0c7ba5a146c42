// Products in BN254's field, 254 bits: a chain of them in each thread, as polynomials are evaluated.
#include "bn254.h"

using namespace metal;

kernel void modular_multiplication(device Field* results [[buffer(0)]], device const Field* a [[buffer(1)]],
                                   device const Field* b [[buffer(2)]], constant uint& terms [[buffer(3)]],
                                   uint id [[thread_position_in_grid]]) {
  const Field x = a[id], coefficient = b[id];
  Field sum = coefficient;
  for (uint i = 0; i < terms; ++i) {
    const Field product = multiply(sum, x);
    sum = add(product, coefficient);
  }
  results[id] = sum;
}
