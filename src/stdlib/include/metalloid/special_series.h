// Sums of Chebyshev series.
#ifndef METALLOID_SPECIAL_SERIES_H
#define METALLOID_SPECIAL_SERIES_H

#include <metal_stdlib>

#include <metalloid/special_function_tables.h>

namespace __metalloid {

// sum c[k] T_k(t) by Clenshaw's recurrence; t in [-1, 1].
template <int N>
METALLOID_FUNC float chebyshev(constant const float (&c)[N], float t) {
  const float doubled = 2.0f * t;
  float next = 0, after = 0;
  for (int k = N - 1; k > 0; --k) {
    const float current = metal::fma(doubled, next, c[k] - after);
    after = next;
    next = current;
  }
  return metal::fma(t, next, c[0] - after);
}

}  // namespace __metalloid

#endif
