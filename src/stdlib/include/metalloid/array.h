// array<T, N> and array_ref<T> (MSL spec §2.10, §2.11).
#ifndef METALLOID_ARRAY_H
#define METALLOID_ARRAY_H

#include <metalloid/type_traits.h>

// The type that Clang makes of braces looks for this name.
namespace std {
template <typename T>
class initializer_list {
 public:
  using value_type = T;
  constexpr initializer_list() = default;
  METALLOID_FUNC constexpr T* begin() const { return const_cast<T*>(first_); }
  METALLOID_FUNC constexpr T* end() const { return begin() + count_; }
  METALLOID_FUNC constexpr size_t size() const { return count_; }

 private:
  const T* first_ = nullptr;
  size_t count_ = 0;
};
}  // namespace std

namespace metal {

using std::initializer_list;

template <typename T, size_t N>
struct array {
  T __elements[N == 0 ? 1 : N];

  using value_type = T;
  using size_type = size_t;

  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T& operator[](size_t i) { return __elements[i]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T& operator[](size_t i) const { return __elements[i]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T& at(size_t i) { return __elements[i]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T& at(size_t i) const { return __elements[i]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T& front() { return __elements[0]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T& front() const { return __elements[0]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T& back() { return __elements[N - 1]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T& back() const { return __elements[N - 1]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T* data() { return __elements; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T* data() const { return __elements; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T* begin() { return __elements; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T* begin() const { return __elements; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr T* end() { return __elements + N; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const T* end() const { return __elements + N; }
  METALLOID_FUNC constexpr void fill(const T& value) {
    for (size_t i = 0; i < N; ++i) __elements[i] = value;
  }
  METALLOID_FUNC static constexpr bool empty() { return N == 0; }
  METALLOID_FUNC static constexpr size_t size() { return N; }
  METALLOID_FUNC static constexpr size_t max_size() { return N; }
};

template <typename T, typename... U>
array(T, U...) -> array<T, 1 + sizeof...(U)>;

template <typename T, size_t N>
METALLOID_FUNC constexpr bool operator==(const array<T, N>& a, const array<T, N>& b) {
  for (size_t i = 0; i < N; ++i) {
    if (!(a[i] == b[i])) return false;
  }
  return true;
}
template <typename T, size_t N>
METALLOID_FUNC constexpr bool operator!=(const array<T, N>& a, const array<T, N>& b) {
  return !(a == b);
}

// A view of an array that somebody else owns.
template <typename T>
class array_ref {
 public:
  using value_type = T;
  constexpr array_ref() = default;
  METALLOID_FUNC constexpr array_ref(const T* elements, size_t count) : elements_(elements), count_(count) {}
  template <size_t N>
  METALLOID_FUNC constexpr array_ref(const array<T, N>& a) : elements_(a.data()), count_(N) {}
  template <size_t N>
  METALLOID_FUNC constexpr array_ref(const T (&a)[N]) : elements_(a), count_(N) {}

  METALLOID_FUNC constexpr const T& operator[](size_t i) const { return elements_[i]; }
  METALLOID_FUNC constexpr const T* data() const { return elements_; }
  METALLOID_FUNC constexpr const T* begin() const { return elements_; }
  METALLOID_FUNC constexpr const T* end() const { return elements_ + count_; }
  METALLOID_FUNC constexpr bool empty() const { return count_ == 0; }
  METALLOID_FUNC constexpr size_t size() const { return count_; }

 private:
  const T* elements_ = nullptr;
  size_t count_ = 0;
};

template <typename T, size_t N>
METALLOID_FUNC constexpr array_ref<T> make_array_ref(const array<T, N>& a) {
  return array_ref<T>(a);
}
template <typename T, size_t N>
METALLOID_FUNC constexpr array_ref<T> make_array_ref(const T (&a)[N]) {
  return array_ref<T>(a);
}
template <typename T>
METALLOID_FUNC constexpr array_ref<T> make_array_ref(const T* elements, size_t count) {
  return array_ref<T>(elements, count);
}

}  // namespace metal

#endif
