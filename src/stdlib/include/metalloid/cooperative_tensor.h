// cooperative_tensor: a matrix in the registers of the threads that work on it together, and the sets of threads that
// can (execution scopes). Metal leaves open which thread holds what; kernels that assume Apple's fragments find them.
#ifndef METALLOID_COOPERATIVE_TENSOR_H
#define METALLOID_COOPERATIVE_TENSOR_H

#include <metalloid/array.h>
#include <metalloid/simdgroup_matrix.h>
#include <metalloid/tensor.h>

namespace __metalloid {

// One thread holds all Rows x Columns elements.
template <int Rows, int Columns>
struct thread_layout {
  METALLOID_FUNC static constexpr int rows() { return Rows; }
  METALLOID_FUNC static constexpr int columns() { return Columns; }
  METALLOID_FUNC static constexpr int capacity() { return Rows * Columns; }
  METALLOID_FUNC static int row(int i) { return i / Columns; }
  METALLOID_FUNC static int column(int i) { return i % Columns; }
};

// Square tiles of 8 or 16, numbered row by row; the simdgroups take them in turn. Of a tile with width = Tile / 4, lane
// bits b4..b0 hold rows b4*4 + b2*2 + b1 (and that plus 8), columns (b3*2 + b0) * width and the next width - 1. With
// Tile = 8 that is the layout of simdgroup_matrix.
template <int Rows, int Columns, int Tile, int Simdgroups>
struct tiled_layout {
  METALLOID_FUNC static constexpr int rows() { return Rows; }
  METALLOID_FUNC static constexpr int columns() { return Columns; }
  METALLOID_FUNC static constexpr int width() { return Tile / 4; }
  METALLOID_FUNC static constexpr int halves() { return Tile / 8; }
  METALLOID_FUNC static constexpr int per_tile() { return width() * halves(); }
  METALLOID_FUNC static constexpr int tiles_across() { return (Columns + Tile - 1) / Tile; }
  METALLOID_FUNC static constexpr int tiles_down() { return (Rows + Tile - 1) / Tile; }
  METALLOID_FUNC static constexpr int capacity() {
    return (tiles_across() * tiles_down() + Simdgroups - 1) / Simdgroups * per_tile();
  }

  METALLOID_FUNC static int lane_row(int lane) { return int(fragment_row(uint(lane))); }
  METALLOID_FUNC static int lane_group(int lane) { return int(fragment_column(uint(lane))) / 2; }
  METALLOID_FUNC static int lane_of(int row, int group) { return int(fragment_lane(uint(row), uint(group) * 2)); }

  METALLOID_FUNC static int tile(int i) {
    return Simdgroups == 1 ? i / per_tile() : i / per_tile() * Simdgroups + thread_index() / 32;
  }
  METALLOID_FUNC static int row(int i) {
    return tile(i) / tiles_across() * Tile + i % per_tile() / width() * 8 + lane_row(simd_lane());
  }
  METALLOID_FUNC static int column(int i) {
    return tile(i) % tiles_across() * Tile + lane_group(simd_lane()) * width() + i % width();
  }
};

}  // namespace __metalloid

namespace metal {

// Who works together: one thread, one simdgroup, or so many simdgroups of a threadgroup, all of them.
struct execution_thread {};
struct execution_simdgroup {};
template <int Count>
struct execution_simdgroups {
  static_assert(Count > 0, "a scope has at least one simdgroup");
};

template <typename ElementType, typename Extents, typename Layout>
class cooperative_tensor {
 public:
  using element_type = ElementType;
  using value_type = ElementType;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using layout_type = Layout;
  using iterator = ElementType*;
  using const_iterator = const ElementType*;

  METALLOID_FUNC static constexpr size_t get_rank() { return Extents::rank(); }
  METALLOID_FUNC static constexpr size_t get_static_extent(size_t dimension) {
    return Extents::static_extent(dimension);
  }
  METALLOID_FUNC static constexpr index_type get_extent(size_t dimension) {
    return index_type(Extents::static_extent(dimension));
  }
  // Elements that this thread may hold; those outside the matrix are not valid.
  METALLOID_FUNC static constexpr uint16_t get_capacity() { return uint16_t(Layout::capacity()); }
  METALLOID_FUNC static constexpr size_t thread_storage_size() { return sizeof(ElementType) * Layout::capacity(); }
  METALLOID_FUNC static constexpr size_t thread_storage_align() { return alignof(ElementType); }

  METALLOID_FUNC static bool is_valid_element(int i) {
    return Layout::row(i) < Layout::rows() && Layout::column(i) < Layout::columns();
  }
  // Dimension 0, the column, first.
  METALLOID_FUNC static array<index_type, 2> get_multidimensional_index(int i) {
    return {index_type(Layout::column(i)), index_type(Layout::row(i))};
  }

  METALLOID_FUNC ElementType& operator[](int i) { return elements_[i]; }
  METALLOID_FUNC const ElementType& operator[](int i) const { return elements_[i]; }
  METALLOID_FUNC ElementType get(int i) const { return elements_[i]; }
  METALLOID_FUNC void set(int i, ElementType value) { elements_[i] = value; }
  METALLOID_FUNC iterator begin() { return elements_; }
  METALLOID_FUNC iterator end() { return elements_ + Layout::capacity(); }
  METALLOID_FUNC const_iterator begin() const { return elements_; }
  METALLOID_FUNC const_iterator end() const { return elements_ + Layout::capacity(); }

  // To and from a tensor; zero where the tensor ends before the matrix does.
  template <typename Tensor>
  METALLOID_FUNC void load(const Tensor& source) {
    for (int i = 0; i < Layout::capacity(); ++i) {
      elements_[i] = is_valid_element(i) ? ElementType(source.get(Layout::column(i), Layout::row(i))) : ElementType(0);
    }
  }
  template <typename Tensor>
  METALLOID_FUNC void store(const Tensor& destination) const {
    using Value = typename Tensor::value_type;
    for (int i = 0; i < Layout::capacity(); ++i) {
      if (is_valid_element(i)) destination.set(Value(elements_[i]), Layout::column(i), Layout::row(i));
    }
  }

 private:
  ElementType elements_[Layout::capacity()] = {};
};

}  // namespace metal

#endif
