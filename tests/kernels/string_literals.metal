// String literals and __func__ are `constant const char*`, as arguments of functions and templates.
#include <metal_stdlib>
using namespace metal;

static uint length_of(constant const char* text) {
  uint n = 0;
  while (text[n]) ++n;
  return n;
}

template <typename T>
struct is_constant_text {
  static constexpr constant uint value = 0;
};
template <>
struct is_constant_text<constant const char*> {
  static constexpr constant uint value = 1;
};
template <typename... T>
static uint count_texts(T...) {
  return (0u + ... + is_constant_text<T>::value);
}

template <typename T>
static uint name_length(T) {
  return length_of(__func__);
}

// RUN: --kernel literals --threads 1 --group 1 --arg out=u32[8]=zeros --arg text=i8[4]=zeros
// EXPECT out: 4 7 8 3 11 4 0 1
kernel void literals(device uint* out, constant char* text) {
  const constant char kept[] = "ab";
  out[0] = length_of("four");
  out[1] = length_of("five" "six");
  out[2] = length_of(__func__);
  out[3] = count_texts("a", 2, "b", text);
  out[4] = name_length(1);
  out[5] = sizeof("abc");
  out[6] = length_of(text);
  out[7] = length_of(__FILE__) > 5;
  static_assert(sizeof(kept) == 3, "stays an array");
}
