// The engines' operations across the lanes of a simdgroup or quadgroup, and how values of any type go through them:
// reductions in the widened type, permutations as 32- or 64-bit words.
#ifndef METALLOID_GROUP_OPERATIONS_H
#define METALLOID_GROUP_OPERATIONS_H

#include <metalloid/promote.h>

#define METALLOID_OPERATION(group, name, suffix, ...) \
  __attribute__((convergent)) __VA_ARGS__ __asm("metalloid." #group "." #name "." #suffix);
#define METALLOID_REDUCTION(group, name)                   \
  METALLOID_OPERATION(group, name, i32, int name(int))     \
  METALLOID_OPERATION(group, name, u32, uint name(uint))   \
  METALLOID_OPERATION(group, name, i64, long name(long))   \
  METALLOID_OPERATION(group, name, u64, ulong name(ulong)) \
  METALLOID_OPERATION(group, name, f16, half name(half))   \
  METALLOID_OPERATION(group, name, f32, float name(float))
#define METALLOID_BITWISE(group, name, function)             \
  METALLOID_OPERATION(group, name, u32, uint function(uint)) \
  METALLOID_OPERATION(group, name, u64, ulong function(ulong))
#define METALLOID_PERMUTATION(group, name)                             \
  METALLOID_OPERATION(group, name, b32, uint name(uint, uint operand)) \
  METALLOID_OPERATION(group, name, b64, ulong name(ulong, uint operand))
#define METALLOID_GROUP(group)                                                         \
  namespace __metalloid::group {                                                       \
  METALLOID_REDUCTION(group, sum)                                                      \
  METALLOID_REDUCTION(group, product)                                                  \
  METALLOID_REDUCTION(group, min)                                                      \
  METALLOID_REDUCTION(group, max)                                                      \
  METALLOID_REDUCTION(group, prefix_inclusive_sum)                                     \
  METALLOID_REDUCTION(group, prefix_exclusive_sum)                                     \
  METALLOID_REDUCTION(group, prefix_inclusive_product)                                 \
  METALLOID_REDUCTION(group, prefix_exclusive_product)                                 \
  METALLOID_BITWISE(group, and, bit_and)                                               \
  METALLOID_BITWISE(group, or, bit_or)                                                 \
  METALLOID_BITWISE(group, xor, bit_xor)                                               \
  METALLOID_PERMUTATION(group, broadcast)                                              \
  METALLOID_PERMUTATION(group, shuffle)                                                \
  METALLOID_PERMUTATION(group, shuffle_up)                                             \
  METALLOID_PERMUTATION(group, shuffle_down)                                           \
  METALLOID_PERMUTATION(group, shuffle_xor)                                            \
  METALLOID_PERMUTATION(group, rotate_up)                                              \
  METALLOID_PERMUTATION(group, rotate_down)                                            \
  METALLOID_OPERATION(group, broadcast_first, b32, uint broadcast_first(uint))         \
  METALLOID_OPERATION(group, broadcast_first, b64, ulong broadcast_first(ulong))       \
  __attribute__((convergent)) ulong ballot(bool) __asm("metalloid." #group ".ballot"); \
  }

METALLOID_GROUP(simd)
METALLOID_GROUP(quad)

namespace __metalloid {

__attribute__((const)) int thread_index() __asm("metalloid.thread_index");  // within the threadgroup
METALLOID_FUNC int simd_lane() { return thread_index() & 31; }

// The type in which a scalar is reduced: the narrowest of the engines' types that holds it.
template <typename T>
METALLOID_FUNC auto widen(T x) {
  if constexpr (__is_integral(T) && sizeof(T) < 4 && !(T(-1) < T(0)))
    return uint(x);
  else if constexpr (__is_integral(T))
    return +x;
  else if constexpr (__is_same(T, bfloat))
    return float(x);
  else
    return x;
}

// The bits of a value as unsigned integers of the same size.
template <int size>
struct words;
template <>
struct words<1> {
  using type = uchar;
};
template <>
struct words<2> {
  using type = ushort;
};
template <>
struct words<4> {
  using type = uint;
};
template <>
struct words<8> {
  using type = ulong;
};
struct two_words {
  ulong low, high;
};
struct four_words {
  two_words low, high;
};
template <>
struct words<16> {
  using type = two_words;
};
template <>
struct words<32> {
  using type = four_words;
};
template <typename T>
using words_t = typename words<sizeof(T)>::type;
template <typename Word>
using operand_t = metal::conditional_t<sizeof(Word) == 8, ulong, uint>;

template <typename T, bool reducible>
struct group_result {};
template <typename T>
struct group_result<T, true> {
  using type = typename shape<T>::vector;
};
// bool counts as int in arithmetic; permutations keep it.
template <>
struct group_result<bool, true> {
  using type = int;
};
template <typename T>
using reduction_t = typename group_result<T, is_scalar<T> || is_vector<T>>::type;
template <typename T>
using permuted_t = metal::conditional_t<__is_same(T, bool), bool, reduction_t<T>>;

}  // namespace __metalloid

// A reduction of the API, e.g. simd_sum, by an operation of the engines, e.g. __metalloid::simd::sum.
#define METALLOID_GROUP_REDUCTION(name, operation)                \
  template <typename A, typename R = __metalloid::reduction_t<A>> \
  METALLOID_FUNC R name(A a_) {                                   \
    const R a = R(a_);                                            \
    if constexpr (__metalloid::is_vector<R>) {                    \
      METALLOID_ELEMENTWISE_1(R, name);                           \
    } else {                                                      \
      return R(operation(__metalloid::widen(a)));                 \
    }                                                             \
  }
// and, or, xor act on the bits.
#define METALLOID_GROUP_BITWISE(name, operation)                                           \
  template <typename A, typename R = __metalloid::reduction_t<A>>                          \
  METALLOID_FUNC R name(A a_) {                                                            \
    const R a = R(a_);                                                                     \
    if constexpr (__metalloid::is_vector<R>) {                                             \
      METALLOID_ELEMENTWISE_1(R, name);                                                    \
    } else {                                                                               \
      using Word = __metalloid::words_t<R>;                                                \
      using Operand = __metalloid::operand_t<Word>;                                        \
      return __builtin_bit_cast(R, Word(operation(Operand(__builtin_bit_cast(Word, a))))); \
    }                                                                                      \
  }

// A permutation; `parameters` start with a comma or are empty, `arguments` likewise.
#define METALLOID_GROUP_PERMUTE_WORDS(name, operation, parameters, arguments)                          \
  namespace __metalloid {                                                                              \
  template <typename Word>                                                                             \
  METALLOID_FUNC Word name##_words(Word w parameters) {                                                \
    if constexpr (sizeof(Word) == 32)                                                                  \
      return {name##_words(w.low arguments), name##_words(w.high arguments)};                          \
    else if constexpr (sizeof(Word) == 16)                                                             \
      return {operation(w.low arguments), operation(w.high arguments)};                                \
    else                                                                                               \
      return Word(operation(operand_t<Word>(w) arguments));                                            \
  }                                                                                                    \
  }                                                                                                    \
  namespace metal {                                                                                    \
  template <typename A, typename R = __metalloid::permuted_t<A>>                                       \
  METALLOID_FUNC R name(A a parameters) {                                                              \
    using Word = __metalloid::words_t<R>;                                                              \
    return __builtin_bit_cast(R, __metalloid::name##_words(__builtin_bit_cast(Word, R(a)) arguments)); \
  }                                                                                                    \
  }
#define METALLOID_COMMA ,
#define METALLOID_GROUP_PERMUTATION(name, operation) \
  METALLOID_GROUP_PERMUTE_WORDS(name, operation, METALLOID_COMMA ushort operand, METALLOID_COMMA operand)

// Everything that simdgroups (prefix simd, 32 lanes) and quadgroups (prefix quad, 4 lanes) have in common.
#define METALLOID_GROUP_FUNCTIONS(group, width)                                                                 \
  METALLOID_GROUP_PERMUTATION(group##_broadcast, group::broadcast)                                              \
  METALLOID_GROUP_PERMUTE_WORDS(group##_broadcast_first, group::broadcast_first, , )                            \
  METALLOID_GROUP_PERMUTATION(group##_shuffle, group::shuffle)                                                  \
  METALLOID_GROUP_PERMUTATION(group##_shuffle_up, group::shuffle_up)                                            \
  METALLOID_GROUP_PERMUTATION(group##_shuffle_down, group::shuffle_down)                                        \
  METALLOID_GROUP_PERMUTATION(group##_shuffle_xor, group::shuffle_xor)                                          \
  METALLOID_GROUP_PERMUTATION(group##_shuffle_rotate_up, group::rotate_up)                                      \
  METALLOID_GROUP_PERMUTATION(group##_shuffle_rotate_down, group::rotate_down)                                  \
  namespace metal {                                                                                             \
  METALLOID_GROUP_REDUCTION(group##_sum, __metalloid::group::sum)                                               \
  METALLOID_GROUP_REDUCTION(group##_product, __metalloid::group::product)                                       \
  METALLOID_GROUP_REDUCTION(group##_min, __metalloid::group::min)                                               \
  METALLOID_GROUP_REDUCTION(group##_max, __metalloid::group::max)                                               \
  METALLOID_GROUP_REDUCTION(group##_prefix_inclusive_sum, __metalloid::group::prefix_inclusive_sum)             \
  METALLOID_GROUP_REDUCTION(group##_prefix_exclusive_sum, __metalloid::group::prefix_exclusive_sum)             \
  METALLOID_GROUP_REDUCTION(group##_prefix_inclusive_product, __metalloid::group::prefix_inclusive_product)     \
  METALLOID_GROUP_REDUCTION(group##_prefix_exclusive_product, __metalloid::group::prefix_exclusive_product)     \
  METALLOID_GROUP_BITWISE(group##_and, __metalloid::group::bit_and)                                             \
  METALLOID_GROUP_BITWISE(group##_or, __metalloid::group::bit_or)                                               \
  METALLOID_GROUP_BITWISE(group##_xor, __metalloid::group::bit_xor)                                             \
                                                                                                                \
  METALLOID_FUNC bool group##_all(bool condition) { return __metalloid::group::ballot(!condition) == 0; }       \
  METALLOID_FUNC bool group##_any(bool condition) { return __metalloid::group::ballot(condition) != 0; }        \
  METALLOID_FUNC group##_vote group##_ballot(bool condition) {                                                  \
    return group##_vote(__metalloid::group::ballot(condition));                                                 \
  }                                                                                                             \
  METALLOID_FUNC group##_vote group##_active_threads_mask() { return group##_ballot(true); }                    \
  METALLOID_FUNC bool group##_is_first() {                                                                      \
    const ulong active = __metalloid::group::ballot(true);                                                      \
    const uint lane = uint(__metalloid::simd_lane()) & (width - 1u);                                            \
    return ((active >> lane) << lane) == active;                                                                \
  }                                                                                                             \
                                                                                                                \
  /* Lanes are taken in runs of `modulo`; where a source would lie outside its run, the filling value of the */ \
  /* lane at the run's other end comes in. */                                                                   \
  template <typename A, typename R = __metalloid::permuted_t<A>>                                                \
  METALLOID_FUNC R group##_shuffle_and_fill_up(A data, __metalloid::exactly_this<A> fill, ushort delta,         \
                                               ushort modulo = width) {                                         \
    const uint lane = uint(__metalloid::simd_lane()) & (width - 1u);                                            \
    const uint position = lane & (modulo - 1u);                                                                 \
    const ushort source = ushort((lane - position) + ((position - delta) & (modulo - 1u)));                     \
    const R from_data = group##_shuffle(R(data), source), from_fill = group##_shuffle(R(fill), source);         \
    if (position >= delta) return from_data;                                                                    \
    return from_fill;                                                                                           \
  }                                                                                                             \
  template <typename A, typename R = __metalloid::permuted_t<A>>                                                \
  METALLOID_FUNC R group##_shuffle_and_fill_down(A data, __metalloid::exactly_this<A> fill, ushort delta,       \
                                                 ushort modulo = width) {                                       \
    const uint lane = uint(__metalloid::simd_lane()) & (width - 1u);                                            \
    const uint position = lane & (modulo - 1u);                                                                 \
    const ushort source = ushort((lane - position) + ((position + delta) & (modulo - 1u)));                     \
    const R from_data = group##_shuffle(R(data), source), from_fill = group##_shuffle(R(fill), source);         \
    if (position + delta < modulo) return from_data;                                                            \
    return from_fill;                                                                                           \
  }                                                                                                             \
  }

// The result of a ballot: a bit per lane.
#define METALLOID_GROUP_VOTE(name, full)                                          \
  namespace metal {                                                               \
  class name {                                                                    \
   public:                                                                        \
    using vote_t = ulong;                                                         \
    METALLOID_FUNC explicit constexpr name(vote_t v = 0) : votes_(v) {}           \
    METALLOID_FUNC explicit constexpr operator vote_t() const { return votes_; }  \
    METALLOID_FUNC constexpr bool all() const { return (votes_ & full) == full; } \
    METALLOID_FUNC constexpr bool any() const { return (votes_ & full) != 0; }    \
                                                                                  \
   private:                                                                       \
    vote_t votes_;                                                                \
  };                                                                              \
  }

namespace metal {
// Public kernels ask this internal name of Metal's own library which types the specification allows.
template <typename T>
struct __is_valid_simdgroup_type : bool_constant<__metalloid::is_scalar<T> && !__is_same(T, bool) && sizeof(T) <= 4> {};
template <typename T, int N>
struct __is_valid_simdgroup_type<vec<T, N>> : __is_valid_simdgroup_type<T> {};
}  // namespace metal

namespace __metalloid {
template <typename T>
struct this_type {
  using type = T;
};
// A parameter that takes no part in deduction.
template <typename T>
using exactly_this = typename this_type<T>::type;
}  // namespace __metalloid

#endif
