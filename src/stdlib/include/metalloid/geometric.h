// Geometric functions (MSL spec §6.7) on vectors of float, half and bfloat.
#ifndef METALLOID_GEOMETRIC_H
#define METALLOID_GEOMETRIC_H

#include <metalloid/common.h>

namespace metal {

template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr auto dot(A a_, B b_) {
  const R a = R(a_), b = R(b_);
  const R product = a * b;
  constexpr int lanes = __metalloid::shape<R>::lanes;
  using T = typename __metalloid::shape<R>::element;
  if constexpr (lanes == 2)
    return T(product.x + product.y);
  else if constexpr (lanes == 3)
    return T(product.x + product.y + product.z);
  else
    return T(product.x + product.y + product.z + product.w);
}
template <typename A, typename R = __metalloid::vector_result_t<A>>
METALLOID_FUNC constexpr auto length_squared(A v) {
  return dot(R(v), R(v));
}
template <typename A, typename R = __metalloid::vector_result_t<A>>
METALLOID_FUNC auto length(A v) {
  using T = typename __metalloid::shape<R>::element;
  return T(sqrt(dot(R(v), R(v))));
}
template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr auto distance_squared(A a, B b) {
  return length_squared(R(a) - R(b));
}
template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC auto distance(A a, B b) {
  return length(R(a) - R(b));
}
template <typename A, typename R = __metalloid::vector_result_t<A>>
METALLOID_FUNC R normalize(A v) {
  using T = typename __metalloid::shape<R>::element;
  return R(v) * T(rsqrt(dot(R(v), R(v))));
}
template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr R cross(A a_, B b_) {
  const R a = R(a_), b = R(b_);
  using T = typename __metalloid::shape<R>::element;
  return R(T(a.y * b.z - a.z * b.y), T(a.z * b.x - a.x * b.z), T(a.x * b.y - a.y * b.x));
}
template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC constexpr R reflect(A incident, B normal) {
  using T = typename __metalloid::shape<R>::element;
  return R(incident) - R(normal) * T(T(2) * dot(R(normal), R(incident)));
}
template <typename A, typename B, typename C, typename R = __metalloid::vector_result_t<A, B>>
METALLOID_FUNC R refract(A incident, B normal, C ratio) {
  using T = typename __metalloid::shape<R>::element;
  const R i = R(incident), n = R(normal);
  const T eta = T(ratio);
  const T cosine = dot(n, i);
  const T k = T(T(1) - eta * eta * (T(1) - cosine * cosine));
  if (k < T(0)) return R(T(0));
  return i * eta - n * T(eta * cosine + T(sqrt(k)));
}
template <typename A, typename B, typename C, typename R = __metalloid::vector_result_t<A, B, C>>
METALLOID_FUNC constexpr R faceforward(A normal, B incident, C reference) {
  using T = typename __metalloid::shape<R>::element;
  if (dot(R(incident), R(reference)) < T(0)) return R(normal);
  return -R(normal);
}

METALLOID_PRECISE_AND_FAST(
    template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
    METALLOID_FUNC constexpr auto dot(A a, B b) {
      return metal::dot(a, b);
    } template <typename A, typename R = __metalloid::vector_result_t<A>>
    METALLOID_FUNC constexpr auto length_squared(A v) {
      return metal::length_squared(v);
    } template <typename A, typename R = __metalloid::vector_result_t<A>>
    METALLOID_FUNC auto length(A v) {
      return metal::length(v);
    } template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
    METALLOID_FUNC constexpr auto distance_squared(A a, B b) {
      return metal::distance_squared(a, b);
    } template <typename A, typename B, typename R = __metalloid::vector_result_t<A, B>>
    METALLOID_FUNC auto distance(A a, B b) {
      return metal::distance(a, b);
    } template <typename A, typename R = __metalloid::vector_result_t<A>>
    METALLOID_FUNC R normalize(A v) { return metal::normalize(v); })

}  // namespace metal

#endif
