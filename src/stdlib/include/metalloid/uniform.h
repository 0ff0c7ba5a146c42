// uniform<T> (MSL spec §2.14): a value that is the same for all threads. Nothing here relies on it.
#ifndef METALLOID_UNIFORM_H
#define METALLOID_UNIFORM_H

#include <metalloid/type_traits.h>

namespace metal {

template <typename T>
class uniform {
 public:
  using type = T;
  uniform() = default;
  METALLOID_FUNC constexpr uniform(T value) : value_(value) {}
  template <typename U>
  METALLOID_FUNC constexpr uniform(uniform<U> other) : value_(static_cast<U>(other)) {}
  METALLOID_FUNC constexpr operator T() const { return value_; }

 private:
  T value_;
};

// Of two uniform operands the result is uniform. A source's own operators for types that numbers convert to then
// compete with nothing.
#define METALLOID_UNIFORM_OPERATOR(op)                                            \
  template <typename T, typename U>                                               \
  METALLOID_FUNC constexpr auto operator op(uniform<T> a, uniform<U> b) {         \
    return uniform<decltype(T() op U())>(static_cast<T>(a) op static_cast<U>(b)); \
  }
METALLOID_UNIFORM_OPERATOR(+)
METALLOID_UNIFORM_OPERATOR(-)
METALLOID_UNIFORM_OPERATOR(*)
METALLOID_UNIFORM_OPERATOR(/)
METALLOID_UNIFORM_OPERATOR(%)
METALLOID_UNIFORM_OPERATOR(&)
METALLOID_UNIFORM_OPERATOR(|)
METALLOID_UNIFORM_OPERATOR(^)
METALLOID_UNIFORM_OPERATOR(<<)
METALLOID_UNIFORM_OPERATOR(>>)
METALLOID_UNIFORM_OPERATOR(==)
METALLOID_UNIFORM_OPERATOR(!=)
METALLOID_UNIFORM_OPERATOR(<)
METALLOID_UNIFORM_OPERATOR(>)
METALLOID_UNIFORM_OPERATOR(<=)
METALLOID_UNIFORM_OPERATOR(>=)
#undef METALLOID_UNIFORM_OPERATOR

template <typename T>
METALLOID_FUNC constexpr uniform<T> make_uniform(T value) {
  return uniform<T>(value);
}
template <typename T>
METALLOID_FUNC constexpr uniform<T> make_uniform(uniform<T> value) {
  return value;
}

template <typename T>
struct is_uniform : false_type {};
template <typename T>
struct is_uniform<uniform<T>> : true_type {};
template <typename T>
constexpr constant bool is_uniform_v = is_uniform<T>::value;

}  // namespace metal

#endif
