// mpp::tensor_ops::matmul2d: destination = left * right (+ destination), by all threads of a scope. The operands are
// tensors or, within one simdgroup, cooperative tensors. Sums are kept in float, or in int for integer destinations.
#ifndef METALLOID_MATRIX_MULTIPLICATION_H
#define METALLOID_MATRIX_MULTIPLICATION_H

#include <metalloid/tensor_products.h>
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
  static constexpr bool relaxed() { return (Descriptor >> 62 & 1) != 0 || __metalloid::matrices::relaxed_mode; }
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
  static constexpr int simdgroups() { return destination_layout::simdgroups(); }

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
    namespace tiles = __metalloid::tiles;
    constexpr int rows = m(), columns = n(), precision = relaxed() ? 1 : 0, count = simdgroups();
    constexpr bool left_lies = transpose_left(), right_lies = transpose_right(), adds = accumulates();
    if constexpr (tiles::tile_of<Left>::is_tile && tiles::tile_of<Right>::is_tile &&
                  tiles::tile_of<Destination>::is_tile) {
      const auto a = tiles::tile_of<Left>::describe(left);
      const auto b = tiles::tile_of<Right>::describe(right);
      const auto c = tiles::tile_of<Destination>::describe(destination);
      multiply_tiles<Left, Right, Destination>(METALLOID_TILE_ARGUMENTS(Left, a), METALLOID_TILE_ARGUMENTS(Right, b),
                                               METALLOID_TILE_ARGUMENTS(Destination, c), rows, columns,
                                               depth(left, right), left_lies, right_lies, adds, precision, count);
    } else if constexpr (in_fragments<Left, Right, Destination>()) {
      run_in_fragments(left, right, destination, depth(left, right));
    } else {
      run_by_elements(left, right, destination, depth(left, right));
    }
  }

 private:
  // The engines' operation.
  template <typename Left, typename Right, typename Destination>
  METALLOID_WHOLE_OPERATION("matmul2d", simdgroups())
  METALLOID_FUNC static void multiply_tiles(METALLOID_TILE(Left, left), METALLOID_TILE(Right, right),
                                            METALLOID_TILE(Destination, destination), int /* m */, int /* n */, int k,
                                            bool /* transposed left */, bool /* transposed right */,
                                            bool /* accumulates */, int /* precision */, int /* simdgroups */) {
    auto&& target = METALLOID_TILE_AGAIN(Destination, destination);
    if constexpr (in_fragments<Left, Right, Destination>()) {
      run_in_fragments(METALLOID_TILE_AGAIN(Left, left), METALLOID_TILE_AGAIN(Right, right), target, k);
    } else {
      run_by_elements(METALLOID_TILE_AGAIN(Left, left), METALLOID_TILE_AGAIN(Right, right), target, k);
    }
  }

  template <typename Tensor>
  using value_of =
      typename metal::remove_cv_t<metal::remove_addrspace_t<metal::remove_reference_t<Tensor>>>::value_type;

  template <typename Left, typename Right, typename Destination>
  static constexpr bool in_fragments() {
    constexpr bool integral = metal::is_integral_v<value_of<Destination>>;
    return !metal::is_same_v<Scope, metal::execution_thread> &&
           (!integral || (is_byte<value_of<Left>> && is_byte<value_of<Right>>));
  }

  template <typename A, typename B>
  static constexpr bool are_equally_large() {
    return A::layout_type::rows() == B::layout_type::rows() && A::layout_type::columns() == B::layout_type::columns() &&
           B::layout_type::simdgroups() == 1;
  }
  template <typename Input, typename Source>
  METALLOID_FUNC static Input from_matrix(const Source& source) {
    static_assert(are_equally_large<Input, Source>(),
                  "the cooperative tensor has another size or scope than the input");
    return __metalloid::matmul::rearranged<Input>(source);
  }
  METALLOID_FUNC static void check_cooperative_input() {
    static_assert(metal::is_same_v<Scope, metal::execution_simdgroup>,
                  "cooperative inputs of matmul2d need the scope execution_simdgroup");
    static_assert(k() > 0, "cooperative inputs of matmul2d need a fixed k");
  }

  template <typename T>
  static constexpr constant bool is_byte = metal::is_integral_v<T> && sizeof(T) == 1;

  // The sums in float: each the chain fma(a[k-1], b[k-1], ... fma(a[0], b[0], start)). Those of integers of 8 bits are
  // exact in float for 256 of k, and then are added up in int.
  template <typename Left, typename Right, typename Destination>
  METALLOID_FUNC static void run_in_fragments(const Left& left_operand, const Right& right_operand,
                                              thread Destination& destination, int depth) {
    using namespace __metalloid::matmul;
    constexpr bool integral = metal::is_integral_v<value_of<Destination>>;
    const int end = k() > 0 ? k() : depth;
    using Layout = destination_layout;
    using Products = simdgroup_products<Layout, k(), transpose_left(), transpose_right(), relaxed()>;
    constexpr int down = Products::down, across = Products::across;
    constexpr int exact = 256 / (Products::steps * 8) * (Products::steps * 8);
    const auto left = Products::left_of(left_operand, end);
    const auto right = Products::right_of(right_operand, end);
#pragma clang loop unroll(disable)
    for (int block_down = 0; block_down < Layout::row_slots(); block_down += down) {
#pragma clang loop unroll(disable)
      for (int block_across = 0; block_across < Layout::column_slots() / 2; block_across += across) {
        using Sum = metal::conditional_t<integral, int, float>;
        pair<Sum> sums[down * across] = {};
        if constexpr (accumulates()) Products::get(destination, block_down, block_across, sums);
        if constexpr (!integral) {
          Products::run(left, right, block_down, block_across, 0, end, sums);
        } else {
#pragma clang loop unroll(disable)
          for (int begin = 0; begin < end; begin += exact) {
            pair<float> partial[down * across] = {};
            Products::run(left, right, block_down, block_across, begin, metal::min(end, begin + exact), partial);
#pragma unroll
            for (int i = 0; i < down * across; ++i)
              sums[i] = pair<int>(pair<uint>(sums[i]) + pair<uint>(pair<int>(partial[i])));
          }
        }
        Products::set(destination, block_down, block_across, sums);
      }
    }
  }

  // The same sums by one thread, and those of integers that float does not hold.
  template <typename Left, typename Right, typename Destination>
  METALLOID_FUNC static void run_by_elements(const Left& left_operand, const Right& right_operand,
                                             thread Destination& destination, int depth) {
    using namespace __metalloid::matmul;
    static_assert(!is_cooperative_v<Left> && !is_cooperative_v<Right>,
                  "cooperative inputs of integer products have elements of at most 8 bits");
    using Sum = metal::conditional_t<metal::is_integral_v<value_of<Destination>>, int, float>;
    const int end = k() > 0 ? k() : depth;
    using Layout = destination_layout;
    using Value = typename Destination::value_type;
    constexpr int capacity = Layout::capacity();
    const memory_matrix<Sum, Left, transpose_left()> left(left_operand, m(), end);
    const memory_matrix<Sum, Right, transpose_right()> right(right_operand, end, n());
    Sum sums[capacity] = {};
    if constexpr (accumulates()) {
      for (int i = 0; i < capacity; ++i) {
        if constexpr (is_cooperative_v<Destination>) {
          sums[i] = Sum(destination[i]);
        } else if (Layout::row(i) < m() && Layout::column(i) < n()) {
          sums[i] = Sum(destination.get(Layout::column(i), Layout::row(i)));
        }
      }
    }
    if constexpr (metal::is_same_v<Scope, metal::execution_thread>) {
      add_products_in_thread<Layout>(left, right, end, sums);
    } else {
      for (int at = 0; at < end; ++at) {
        for (int i = 0; i < capacity; ++i) {
          sums[i] = multiply_add(left.get(Layout::row(i), at), right.get(at, Layout::column(i)), sums[i]);
        }
      }
    }
    for (int i = 0; i < capacity; ++i) {
      if constexpr (is_cooperative_v<Destination>) {
        destination[i] = Value(sums[i]);
      } else if (Layout::row(i) < m() && Layout::column(i) < n()) {
        destination.set(Value(sums[i]), Layout::column(i), Layout::row(i));
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
