// Reductions of cooperative tensors: the sum, maximum or minimum of each row or column, which every thread that holds a
// part of the row or column has then.
#ifndef METALLOID_TENSOR_REDUCTIONS_H
#define METALLOID_TENSOR_REDUCTIONS_H

#include <metalloid/cooperative_tensor.h>
#include <metalloid/limits.h>

namespace mpp {
namespace tensor_ops {

enum class reduction_operation { sum, max, min };

// What leaves the other operand as it is.
template <typename T>
struct reduction_operation_identity {
  using limits = metal::numeric_limits<T>;
  static constexpr constant T sum_identity = T(0);
  static constexpr constant T max_identity = limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
  static constexpr constant T min_identity = limits::has_infinity ? limits::infinity() : limits::max();
};

}  // namespace tensor_ops
}  // namespace mpp

namespace __metalloid::matmul {

using mpp::tensor_ops::reduction_operation;

template <typename T>
METALLOID_FUNC T reduced(T a, T b, reduction_operation operation) {
  switch (operation) {
    case reduction_operation::sum: return T(a + b);
    case reduction_operation::max: return metal::max(a, b);
    case reduction_operation::min: return metal::min(a, b);
  }
  return a;
}

// Onto what the destination has.
template <typename Source, typename Destination>
METALLOID_FUNC void reduce_elements(const Source& source, thread Destination& destination,
                                    reduction_operation operation) {
  using From = typename Source::layout_type;
  using To = typename Destination::layout_type;
  using Value = typename Destination::value_type;
  using Identity = mpp::tensor_ops::reduction_operation_identity<Value>;
  static_assert(To::template fits<From>(), "the destination is no reduction of the source");
  static_assert(From::simdgroups() <= 1, "reductions of cooperative tensors need a scope of one simdgroup");
  const Value nothing = operation == reduction_operation::sum   ? Identity::sum_identity
                        : operation == reduction_operation::max ? Identity::max_identity
                                                                : Identity::min_identity;
  Value values[To::capacity()];
  for (int slot = 0; slot < To::capacity(); ++slot) values[slot] = nothing;
  for (int i = 0; i < From::capacity(); ++i) {
    const int slot = To::template slot_of<From>(i);
    if (Source::is_valid_element(i)) values[slot] = reduced(values[slot], Value(source[i]), operation);
  }
  for (int slot = 0; slot < To::capacity(); ++slot) {
    if constexpr (From::simdgroups() == 1) {
      // The lanes that hold other parts differ in these bits of their numbers.
      for (ushort bit = 1; bit < 32; bit *= 2) {
        if (To::other_lanes() & bit) {
          values[slot] = reduced(values[slot], metal::simd_shuffle_xor(values[slot], bit), operation);
        }
      }
    }
    destination[slot] = reduced(destination[slot], values[slot], operation);
  }
}

// The engines' operation.
template <typename Source, typename Destination>
METALLOID_WHOLE_OPERATION("cooperative_tensor.reduce", Source::layout_type::simdgroups())
METALLOID_FUNC void reduce_tile(METALLOID_TILE(Source, source), thread typename Destination::value_type* destination,
                                int /* element */, bool /* of rows */, int operation) {
  reduce_elements(METALLOID_TILE_AGAIN(Source, source), *reinterpret_cast<thread Destination*>(destination),
                  reduction_operation(operation));
}

template <typename Source, typename Destination>
METALLOID_FUNC void reduce(const Source& source, thread Destination& destination, reduction_operation operation,
                           typename Destination::value_type identity) {
  constexpr int element = tiles::element_number<typename Destination::value_type>;
  constexpr bool of_rows = Destination::layout_type::of_rows();
  for (int slot = 0; slot < Destination::layout_type::capacity(); ++slot) destination[slot] = identity;
  if constexpr (tiles::tile_of<Source>::is_tile && element >= 0) {
    const auto from = tiles::tile_of<Source>::describe(source);
    reduce_tile<Source, Destination>(METALLOID_TILE_ARGUMENTS(Source, from), &destination[0], element, of_rows,
                                     int(operation));
  } else {
    reduce_elements(source, destination, operation);
  }
}

}  // namespace __metalloid::matmul

namespace mpp {
namespace tensor_ops {

// destination = operation over each row of the source, and `identity`. All threads of the scope call it together. The
// destination comes from get_row_reduction_destination_cooperative_tensor.
template <typename Source, typename Destination, typename T = typename Destination::value_type>
METALLOID_FUNC void reduce_rows(const Source& source, Destination& destination,
                                reduction_operation operation = reduction_operation::sum,
                                T identity = reduction_operation_identity<T>::sum_identity) {
  static_assert(Destination::layout_type::of_rows(), "reduce_rows takes a row reduction's destination");
  __metalloid::matmul::reduce(source, destination, operation, identity);
}
// The same over each column.
template <typename Source, typename Destination, typename T = typename Destination::value_type>
METALLOID_FUNC void reduce_columns(const Source& source, Destination& destination,
                                   reduction_operation operation = reduction_operation::sum,
                                   T identity = reduction_operation_identity<T>::sum_identity) {
  static_assert(!Destination::layout_type::of_rows(), "reduce_columns takes a column reduction's destination");
  __metalloid::matmul::reduce(source, destination, operation, identity);
}

// Whether destination.map_iterator takes iterators of the source.
template <typename Source, typename Destination>
METALLOID_FUNC bool is_iterator_compatible(const Source&, const Destination&) {
  return Destination::layout_type::template fits<typename Source::layout_type>();
}

}  // namespace tensor_ops
}  // namespace mpp

#endif
