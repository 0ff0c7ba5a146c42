// mpp::tensor_ops::matmul2d: destination = left * right (+ destination), by all threads of a scope. The operands are
// tensors or, within one simdgroup, cooperative tensors. Sums are kept in float, or in int for integer destinations.
#ifndef METALLOID_MATRIX_MULTIPLICATION_H
#define METALLOID_MATRIX_MULTIPLICATION_H

#include <metalloid/cooperative_tensor.h>
#include <metalloid/tensor_reductions.h>

namespace metal {

// A size that the tensors give when the kernel runs.
template <typename T>
constexpr constant T dynamic_length_v = T(dynamic_extent);

}  // namespace metal

namespace mpp {
namespace tensor_ops {

// The destination is m x n, the left operand m x k, the right one k x n; a transposed operand lies in memory the other
// way round. k <= 0: as many as the operands have. Rows and columns outside a tensor read as zero and are not written.
struct matmul2d_descriptor {
  enum class mode { multiply, multiply_accumulate };

  METALLOID_FUNC constexpr matmul2d_descriptor(int m, int n, int k = metal::dynamic_length_v<int>,
                                               bool transpose_left = false, bool transpose_right = false,
                                               bool relaxed_precision = false, mode matmul_mode = mode::multiply)
      : m(m),
        n(n),
        k(k),
        transpose_left(transpose_left),
        transpose_right(transpose_right),
        relaxed_precision(relaxed_precision),
        matmul_mode(matmul_mode) {}

  // Template arguments of C++17 are numbers, so matmul2d takes a descriptor as one: from bit 0 on m and n (16 bits
  // each), k (28 bits), the flags. Zero when a size does not fit.
  METALLOID_FUNC constexpr operator ulong() const {
    if (m <= 0 || m > 0xffff || n <= 0 || n > 0xffff || k > 0xfffffff) return 0;
    return ulong(m) | ulong(n) << 16 | ulong(k > 0 ? k : 0) << 32 | ulong(transpose_left) << 60 |
           ulong(transpose_right) << 61 | ulong(relaxed_precision) << 62 |
           ulong(matmul_mode == mode::multiply_accumulate) << 63;
  }

  int m, n, k;
  bool transpose_left, transpose_right, relaxed_precision;
  mode matmul_mode;
};

}  // namespace tensor_ops
}  // namespace mpp

namespace __metalloid::matmul {

template <typename T>
struct is_cooperative : metal::false_type {};
template <typename E, typename X, typename L>
struct is_cooperative<metal::cooperative_tensor<E, X, L>> : metal::true_type {};
template <typename T>
inline constexpr bool is_cooperative_v = is_cooperative<metal::remove_cv_t<metal::remove_addrspace_t<T>>>::value;

// The element at (row, column) of a tensor, zero outside it.
template <bool Transposed, typename Sum, typename Tensor>
METALLOID_FUNC Sum element(const Tensor& tensor, int row, int column) {
  return Sum(Transposed ? tensor.get(row, column) : tensor.get(column, row));
}

// What a lane needs of the left operand for one k: the elements (row, k) of the rows that it has in the destination.
template <typename Layout, bool Transposed, typename Sum, typename Operand>
METALLOID_FUNC void left_elements(const Operand& left, int k, Sum* result) {
  constexpr int halves = Layout::halves(), tile_size = 8 * halves, width = Layout::width();
  for (int slot = 0; slot < Layout::tiles_down() * halves; ++slot) {
    const int first_row = slot / halves * tile_size + slot % halves * 8;
    if constexpr (is_cooperative_v<Operand>) {
      using Held = typename Operand::layout_type;
      const int tile = slot / halves * Held::tiles_across() + k / tile_size;
      const int lane = Held::lane_of(Held::lane_row(simd_lane()), k % tile_size / width);
      result[slot] =
          metal::simd_shuffle(Sum(left[tile * Held::per_tile() + slot % halves * width + k % width]), ushort(lane));
    } else {
      result[slot] = element<Transposed, Sum>(left, first_row + Layout::lane_row(simd_lane()), k);
    }
  }
}

// The same of the right operand: the elements (k, column) of this lane's columns.
template <typename Layout, bool Transposed, typename Sum, typename Operand>
METALLOID_FUNC void right_elements(const Operand& right, int k, Sum* result) {
  constexpr int tile_size = 8 * Layout::halves(), width = Layout::width();
  for (int slot = 0; slot < Layout::tiles_across() * width; ++slot) {
    if constexpr (is_cooperative_v<Operand>) {
      using Held = typename Operand::layout_type;
      const int tile = k / tile_size * Held::tiles_across() + slot / width;
      const int lane = Held::lane_of(k % 8, Held::lane_group(simd_lane()));
      result[slot] = metal::simd_shuffle(Sum(right[tile * Held::per_tile() + k % tile_size / 8 * width + slot % width]),
                                         ushort(lane));
    } else {
      const int column = slot / width * tile_size + Layout::lane_group(simd_lane()) * width + slot % width;
      result[slot] = element<Transposed, Sum>(right, k, column);
    }
  }
}

// A cooperative tensor in another layout, with rows and columns exchanged if wanted: every element goes to the lane
// that holds its place there.
template <typename Result, bool Exchanged, typename Operand>
METALLOID_FUNC Result rearranged(const Operand& operand) {
  using To = typename Result::layout_type;
  using From = typename Operand::layout_type;
  constexpr int tile_size = 8 * From::halves(), width = From::width();
  Result result;
  for (int i = 0; i < To::capacity(); ++i) {
    const int row = Exchanged ? To::column(i) : To::row(i), column = Exchanged ? To::row(i) : To::column(i);
    const int lane = From::lane_of(row % 8, column % tile_size / width);
    const int place = row % tile_size / 8 * width + column % width;
    const int first = (row / tile_size * From::tiles_across() + column / tile_size) * From::per_tile();
    for (int candidate = 0; candidate < From::capacity(); ++candidate) {
      const auto value = metal::simd_shuffle(operand[candidate], ushort(lane));
      if (candidate == first + place) result[i] = typename Result::value_type(value);
    }
  }
  return result;
}

}  // namespace __metalloid::matmul

namespace mpp {
namespace tensor_ops {

template <ulong Descriptor, typename Scope>
class matmul2d {
  static_assert(Descriptor != 0, "matmul2d_descriptor: m and n are from 1 to 65535, k is below 2^28");

  static constexpr int m() { return int(Descriptor & 0xffff); }
  static constexpr int n() { return int(Descriptor >> 16 & 0xffff); }
  static constexpr int k() { return int(Descriptor >> 32 & 0xfffffff); }
  static constexpr bool transpose_left() { return (Descriptor >> 60 & 1) != 0; }
  static constexpr bool transpose_right() { return (Descriptor >> 61 & 1) != 0; }
  static constexpr bool accumulates() { return (Descriptor >> 63 & 1) != 0; }
  // As Apple's GPUs lay fragments out: 16 x 16 with relaxed precision, else 8 x 8.
  static constexpr int tile() { return (Descriptor >> 62 & 1) != 0 ? 16 : 8; }
  static constexpr ulong without(int flag) { return Descriptor & ~(1ul << flag); }

  template <typename S, int Rows, int Columns>
  struct layout;
  template <int Rows, int Columns>
  struct layout<metal::execution_thread, Rows, Columns> {
    using type = __metalloid::thread_layout<Rows, Columns>;
  };
  template <int Rows, int Columns>
  struct layout<metal::execution_simdgroup, Rows, Columns> {
    using type = __metalloid::tiled_layout<Rows, Columns, tile(), 1>;
  };
  template <int Count, int Rows, int Columns>
  struct layout<metal::execution_simdgroups<Count>, Rows, Columns> {
    using type = __metalloid::tiled_layout<Rows, Columns, tile(), Count>;
  };
  template <typename Element, int Rows, int Columns>
  using cooperative = metal::cooperative_tensor<Element, metal::extents<int, size_t(Columns), size_t(Rows)>,
                                                typename layout<Scope, Rows, Columns>::type>;
  using destination_layout = typename layout<Scope, m(), n()>::type;

 public:
  // Zero until something is written.
  template <typename Left, typename Right, typename Element>
  METALLOID_FUNC auto get_destination_cooperative_tensor() const {
    return cooperative<metal::remove_cv_t<metal::remove_addrspace_t<Element>>, m(), n()>();
  }
  template <typename LeftElement, typename RightElement, typename Element>
  METALLOID_FUNC auto get_left_input_cooperative_tensor() const {
    check_cooperative_input();
    return cooperative<metal::remove_cv_t<metal::remove_addrspace_t<LeftElement>>, transpose_left() ? k() : m(),
                       transpose_left() ? m() : k()>();
  }
  template <typename LeftElement, typename RightElement, typename Element>
  METALLOID_FUNC auto get_right_input_cooperative_tensor() const {
    check_cooperative_input();
    return cooperative<metal::remove_cv_t<metal::remove_addrspace_t<RightElement>>, transpose_right() ? n() : k(),
                       transpose_right() ? k() : n()>();
  }

  // The same with the elements of a matrix that another product gave.
  template <typename LeftElement, typename RightElement, typename Element, typename Source>
  METALLOID_FUNC auto get_left_input_cooperative_tensor(const Source& source) const {
    using Input = decltype(get_left_input_cooperative_tensor<LeftElement, RightElement, Element>());
    return from_matrix<Input>(source);
  }
  template <typename LeftElement, typename RightElement, typename Element, typename Source>
  METALLOID_FUNC auto get_right_input_cooperative_tensor(const Source& source) const {
    using Input = decltype(get_right_input_cooperative_tensor<LeftElement, RightElement, Element>());
    return from_matrix<Input>(source);
  }
  template <typename LeftElement, typename RightElement, typename Element, typename Source>
  METALLOID_FUNC bool is_compatible_as_left_input(const Source&) const {
    return are_equally_large<decltype(get_left_input_cooperative_tensor<LeftElement, RightElement, Element>()),
                             Source>();
  }
  template <typename LeftElement, typename RightElement, typename Element, typename Source>
  METALLOID_FUNC bool is_compatible_as_right_input(const Source&) const {
    return are_equally_large<decltype(get_right_input_cooperative_tensor<LeftElement, RightElement, Element>()),
                             Source>();
  }

  // What reduce_rows and reduce_columns fill: a number for each row or column of the destination.
  template <typename Left, typename Right, typename Element>
  METALLOID_FUNC auto get_row_reduction_destination_cooperative_tensor() const {
    return metal::cooperative_tensor<metal::remove_cv_t<metal::remove_addrspace_t<Element>>,
                                     metal::extents<int, size_t(m())>, __metalloid::rows_layout<destination_layout>>();
  }
  template <typename Left, typename Right, typename Element>
  METALLOID_FUNC auto get_column_reduction_destination_cooperative_tensor() const {
    return metal::cooperative_tensor<metal::remove_cv_t<metal::remove_addrspace_t<Element>>,
                                     metal::extents<int, size_t(n())>,
                                     __metalloid::columns_layout<destination_layout>>();
  }

  // All threads of the scope call it together.
  template <typename Left, typename Right, typename Destination>
  METALLOID_FUNC void run(const Left& left, const Right& right, Destination&& destination) const {
    using namespace __metalloid::matmul;
    if constexpr (is_cooperative_v<Left> && transpose_left()) {
      matmul2d<without(60), Scope>().run(rearranged<cooperative<typename Left::value_type, m(), k()>, true>(left),
                                         right, destination);
    } else if constexpr (is_cooperative_v<Right> && transpose_right()) {
      matmul2d<without(61), Scope>().run(
          left, rearranged<cooperative<typename Right::value_type, k(), n()>, true>(right), destination);
    } else {
      using Stored = metal::remove_cv_t<metal::remove_addrspace_t<metal::remove_reference_t<Destination>>>;
      using Value = typename Stored::value_type;
      using Sum = metal::conditional_t<metal::is_integral_v<Value>, int, float>;
      Sum sums[destination_layout::capacity()] = {};
      multiply<Sum>(left, right, sums);
      for (int i = 0; i < destination_layout::capacity(); ++i) {
        const int row = destination_layout::row(i), column = destination_layout::column(i);
        if constexpr (is_cooperative_v<Stored>) {
          destination[i] = Value(accumulates() ? Sum(destination[i]) + sums[i] : sums[i]);
        } else if (row < m() && column < n()) {
          const Sum before = accumulates() ? Sum(destination.get(column, row)) : Sum(0);
          destination.set(Value(before + sums[i]), column, row);
        }
      }
    }
  }

 private:
  template <typename A, typename B>
  static constexpr bool are_equally_large() {
    return A::layout_type::rows() == B::layout_type::rows() && A::layout_type::columns() == B::layout_type::columns() &&
           B::layout_type::simdgroups() == 1;
  }
  template <typename Input, typename Source>
  METALLOID_FUNC static Input from_matrix(const Source& source) {
    static_assert(are_equally_large<Input, Source>(),
                  "the cooperative tensor has another size or scope than the input");
    return __metalloid::matmul::rearranged<Input, false>(source);
  }
  METALLOID_FUNC static void check_cooperative_input() {
    static_assert(metal::is_same_v<Scope, metal::execution_simdgroup>,
                  "cooperative inputs of matmul2d need the scope execution_simdgroup");
    static_assert(k() > 0, "cooperative inputs of matmul2d need a fixed k");
  }

  template <typename Sum, typename Left, typename Right>
  METALLOID_FUNC static void multiply(const Left& left, const Right& right, Sum* sums) {
    using namespace __metalloid::matmul;
    using Layout = destination_layout;
    if constexpr (metal::is_same_v<Scope, metal::execution_simdgroup>) {
      Sum rows[Layout::tiles_down() * Layout::halves()], columns[Layout::tiles_across() * Layout::width()];
      for (int at = 0; at < depth(left, right); ++at) {
        left_elements<Layout, transpose_left()>(left, at, rows);
        right_elements<Layout, transpose_right()>(right, at, columns);
        for (int i = 0; i < Layout::capacity(); ++i) {
          const int tile = i / Layout::per_tile(), within = i % Layout::per_tile();
          sums[i] += rows[tile / Layout::tiles_across() * Layout::halves() + within / Layout::width()] *
                     columns[tile % Layout::tiles_across() * Layout::width() + within % Layout::width()];
        }
      }
    } else {
      for (int i = 0; i < Layout::capacity(); ++i) {
        const int row = Layout::row(i), column = Layout::column(i);
        if (row >= m() || column >= n()) continue;
        for (int at = 0; at < depth(left, right); ++at) {
          sums[i] += element<transpose_left(), Sum>(left, row, at) * element<transpose_right(), Sum>(right, at, column);
        }
      }
    }
  }

  template <typename Left, typename Right>
  METALLOID_FUNC static int depth(const Left& left, const Right& right) {
    if constexpr (k() > 0) {
      return k();
    } else if constexpr (__metalloid::matmul::is_cooperative_v<Left>) {
      return int(right.get_extent(transpose_right() ? 0 : 1));
    } else {
      return int(left.get_extent(transpose_left() ? 1 : 0));
    }
  }
};

}  // namespace tensor_ops
}  // namespace mpp

#endif
