// extents, dextents, dynamic_extent: a tensor's sizes, each part of its type or known when the kernel runs.
// Dimension 0 is the one whose elements lie next to each other.
#ifndef METALLOID_TENSOR_EXTENTS_H
#define METALLOID_TENSOR_EXTENTS_H

#include <metalloid/array.h>
#include <metalloid/type_traits.h>

namespace metal {

constexpr constant size_t dynamic_extent = ~size_t(0);

template <typename IndexType, size_t... Extents>
class extents {
 public:
  using index_type = IndexType;
  using size_type = make_unsigned_t<IndexType>;
  using rank_type = size_t;

  METALLOID_FUNC static constexpr rank_type rank() { return sizeof...(Extents); }
  METALLOID_FUNC static constexpr rank_type rank_dynamic() { return ((Extents == dynamic_extent ? 1 : 0) + ... + 0); }
  METALLOID_FUNC static constexpr size_t static_extent(rank_type dimension) {
    const size_t sizes[] = {Extents..., 1};
    return sizes[dimension];
  }

  METALLOID_FUNC constexpr extents() : sizes_{(Extents == dynamic_extent ? index_type(0) : index_type(Extents))...} {}
  // All sizes, or the dynamic ones only.
  template <typename... Sizes,
            enable_if_t<(sizeof...(Sizes) > 0) && (is_convertible_v<Sizes, IndexType> && ...), int> = 0>
  METALLOID_FUNC explicit constexpr extents(Sizes... sizes) {
    static_assert(sizeof...(Sizes) == rank() || sizeof...(Sizes) == rank_dynamic(),
                  "extents takes one size per dimension, or one per dynamic dimension");
    const index_type given[] = {static_cast<index_type>(sizes)...};
    assign<sizeof...(Sizes)>(given);
  }
  template <typename U, size_t N>
  METALLOID_FUNC explicit constexpr extents(const array<U, N>& sizes) {
    static_assert(N == rank() || N == rank_dynamic(),
                  "extents takes one size per dimension, or one per dynamic dimension");
    index_type given[N == 0 ? 1 : N] = {};
    for (size_t i = 0; i < N; ++i) given[i] = static_cast<index_type>(sizes[i]);
    assign<N>(given);
  }

  METALLOID_FUNC constexpr index_type extent(rank_type dimension) const { return sizes_[dimension]; }

 private:
  // A fold, not a loop: nothing then keeps the sizes out of registers.
  template <size_t N>
  METALLOID_FUNC constexpr void assign(const index_type* given) {
    size_t d = 0, next = 0;
    ((sizes_[d] = Extents != dynamic_extent ? index_type(Extents) : given[N == rank() ? d : next],
      next += Extents == dynamic_extent, ++d),
     ...);
  }

  index_type sizes_[sizeof...(Extents) == 0 ? 1 : sizeof...(Extents)] = {};
};

template <typename IndexType, typename Indices>
struct _dynamic_extents;
template <typename IndexType, size_t... i>
struct _dynamic_extents<IndexType, index_sequence<i...>> {
  using type = extents<IndexType, (i, dynamic_extent)...>;
};

// extents whose sizes are all dynamic.
template <typename IndexType, size_t Rank>
using dextents = typename _dynamic_extents<IndexType, make_index_sequence<Rank>>::type;

template <typename A, size_t... i, typename B, size_t... j>
METALLOID_FUNC constexpr bool operator==(const extents<A, i...>& a, const extents<B, j...>& b) {
  if (sizeof...(i) != sizeof...(j)) return false;
  for (size_t d = 0; d < sizeof...(i); ++d) {
    if (a.extent(d) != b.extent(d)) return false;
  }
  return true;
}
template <typename A, size_t... i, typename B, size_t... j>
METALLOID_FUNC constexpr bool operator!=(const extents<A, i...>& a, const extents<B, j...>& b) {
  return !(a == b);
}

}  // namespace metal

#endif
