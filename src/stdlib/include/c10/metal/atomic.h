// Atomic addition and other read-modify-writes for all of torch's element types, on tensors in device memory. Metal
// has 32-bit atomics only: narrower elements go through the word that holds them, so tensors must reach to the end of
// their last word. Wider ones are two words and exact only once all kernels have finished.
#ifndef METALLOID_C10_METAL_ATOMIC_H
#define METALLOID_C10_METAL_ATOMIC_H

#include <metal_atomic>
#include <metal_stdlib>

namespace c10 {
namespace metal {
namespace detail {

// Replaces an element of up to 32 bits by combine(element) with compare-and-swap on its word.
template <typename T, typename Combine>
METALLOID_FUNC void replace_in_word(device ::metal::atomic<uint>* words, long element, Combine combine) {
  constexpr uint per_word = sizeof(uint) / sizeof(T);
  device ::metal::atomic<uint>* word = words + element / per_word;
  const uint place = uint(element % per_word);
  union content {
    uint whole;
    T parts[per_word];
    METALLOID_FUNC content() : whole(0) {}
  };
  content before, after;
  before.whole = ::metal::atomic_load_explicit(word, ::metal::memory_order_relaxed);
  do {
    after.whole = before.whole;
    after.parts[place] = combine(before.parts[place]);
  } while (!::metal::atomic_compare_exchange_weak_explicit(
      word, &before.whole, after.whole, ::metal::memory_order_relaxed, ::metal::memory_order_relaxed));
}

template <typename T>
struct sum_with {
  T value;
  METALLOID_FUNC T operator()(T element) const { return T(element + value); }
};

template <typename T>
struct apply_with {
  T value;
  T (*operation)(T, T);
  METALLOID_FUNC T operator()(T element) const { return operation(element, value); }
};

}  // namespace detail

template <typename T>
struct AtomicType {};
template <typename T>
using AtomicType_t = typename AtomicType<T>::type;

#define METALLOID_WORD_ATOMIC(T)                                                                                     \
  template <>                                                                                                        \
  struct AtomicType<T> {                                                                                             \
    using type = ::metal::atomic<T>;                                                                                 \
    METALLOID_FUNC static void atomic_add(device type* data, long offset, T value) {                                 \
      ::metal::atomic_fetch_add_explicit(data + offset, value, ::metal::memory_order_relaxed);                       \
    }                                                                                                                \
    METALLOID_FUNC static void atomic_binary_op(device type* data, long offset, T value, T (*operation)(T, T)) {     \
      device type* place = data + offset;                                                                            \
      T before = ::metal::atomic_load_explicit(place, ::metal::memory_order_relaxed);                                \
      while (!::metal::atomic_compare_exchange_weak_explicit(                                                        \
          place, &before, operation(before, value), ::metal::memory_order_relaxed, ::metal::memory_order_relaxed)) { \
      }                                                                                                              \
    }                                                                                                                \
  };
METALLOID_WORD_ATOMIC(float)
METALLOID_WORD_ATOMIC(int)
#undef METALLOID_WORD_ATOMIC

#define METALLOID_PART_ATOMIC(T)                                                                                 \
  template <>                                                                                                    \
  struct AtomicType<T> {                                                                                         \
    using type = ::metal::atomic<uint>;                                                                          \
    METALLOID_FUNC static void atomic_add(device type* data, long offset, T value) {                             \
      detail::replace_in_word<T>(data, offset, detail::sum_with<T>{value});                                      \
    }                                                                                                            \
    METALLOID_FUNC static void atomic_binary_op(device type* data, long offset, T value, T (*operation)(T, T)) { \
      detail::replace_in_word<T>(data, offset, detail::apply_with<T>{value, operation});                         \
    }                                                                                                            \
  };
METALLOID_PART_ATOMIC(half)
METALLOID_PART_ATOMIC(bfloat)
METALLOID_PART_ATOMIC(short)
METALLOID_PART_ATOMIC(char)
METALLOID_PART_ATOMIC(uchar)
#undef METALLOID_PART_ATOMIC

// The sum of truth values is "or".
template <>
struct AtomicType<bool> {
  using type = ::metal::atomic<uint>;
  METALLOID_FUNC static void atomic_add(device type* data, long offset, bool value) {
    if (value)
      ::metal::atomic_fetch_or_explicit(data + offset / 4, 1u << (offset % 4 * 8), ::metal::memory_order_relaxed);
  }
  METALLOID_FUNC static void atomic_binary_op(device type* data, long offset, bool value,
                                              bool (*operation)(bool, bool)) {
    detail::replace_in_word<bool>(data, offset, detail::apply_with<bool>{value, operation});
  }
};

template <>
struct AtomicType<half2> {
  using type = ::metal::atomic<uint>;
  METALLOID_FUNC static void atomic_add(device type* data, long offset, half2 value) {
    detail::replace_in_word<half2>(data, offset, detail::sum_with<half2>{value});
  }
};

// The low word's carry goes into the high word.
template <>
struct AtomicType<long> {
  using type = ::metal::atomic<uint>;
  METALLOID_FUNC static void atomic_add(device type* data, long offset, long value) {
    const uint low = uint(value), high = uint(ulong(value) >> 32);
    const uint before = ::metal::atomic_fetch_add_explicit(data + 2 * offset, low, ::metal::memory_order_relaxed);
    const uint carried = high + (before + low < low ? 1u : 0u);
    if (carried) ::metal::atomic_fetch_add_explicit(data + 2 * offset + 1, carried, ::metal::memory_order_relaxed);
  }
};

template <>
struct AtomicType<float2> {
  using type = ::metal::atomic<float>;
  METALLOID_FUNC static void atomic_add(device type* data, long offset, float2 value) {
    ::metal::atomic_fetch_add_explicit(data + 2 * offset, value.x, ::metal::memory_order_relaxed);
    ::metal::atomic_fetch_add_explicit(data + 2 * offset + 1, value.y, ::metal::memory_order_relaxed);
  }
};

}  // namespace metal
}  // namespace c10

#endif
