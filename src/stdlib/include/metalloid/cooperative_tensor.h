// cooperative_tensor: a matrix in the registers of the threads that work on it together, and the sets of threads that
// can (execution scopes). Metal leaves open which thread holds what; kernels that assume Apple's fragments find them.
#ifndef METALLOID_COOPERATIVE_TENSOR_H
#define METALLOID_COOPERATIVE_TENSOR_H

#include <metalloid/array.h>
#include <metalloid/simdgroup_matrix.h>
#include <metalloid/tensor_tiles.h>

namespace __metalloid {

// One thread holds all Rows x Columns elements.
template <int Rows, int Columns>
struct thread_layout {
  METALLOID_FUNC static constexpr int rows() { return Rows; }
  METALLOID_FUNC static constexpr int columns() { return Columns; }
  METALLOID_FUNC static constexpr int capacity() { return Rows * Columns; }
  METALLOID_FUNC static int row(int i) { return i / Columns; }
  METALLOID_FUNC static int column(int i) { return i % Columns; }

  // The rows and columns that a thread has elements of, numbered.
  METALLOID_FUNC static constexpr int simdgroups() { return 0; }
  METALLOID_FUNC static constexpr int tile_size() { return 1; }
  METALLOID_FUNC static constexpr int width() { return 1; }
  METALLOID_FUNC static constexpr int halves() { return 1; }
  METALLOID_FUNC static constexpr int first_row() { return 0; }
  METALLOID_FUNC static constexpr int first_column() { return 0; }
  METALLOID_FUNC static constexpr int row_slots() { return Rows; }
  METALLOID_FUNC static constexpr int column_slots() { return Columns; }
  METALLOID_FUNC static int row_slot(int i) { return row(i); }
  METALLOID_FUNC static int column_slot(int i) { return column(i); }
  METALLOID_FUNC static int slot_row(int slot) { return slot; }
  METALLOID_FUNC static int slot_column(int slot) { return slot; }
};

// How simdgroups divide a matrix: in blocks of tiles, one each, as few and as square as possible.
struct tile_blocks {
  METALLOID_FUNC constexpr tile_blocks(int tiles_down, int tiles_across, int simdgroups) {
    for (int rows = 1; rows <= simdgroups; ++rows) {
      if (simdgroups % rows != 0) continue;
      const int high = (tiles_down + rows - 1) / rows;
      const int wide = (tiles_across + simdgroups / rows - 1) / (simdgroups / rows);
      if (down == 0 || high * wide < down * across || (high * wide == down * across && high + wide < down + across)) {
        down = high;
        across = wide;
        blocks_across = simdgroups / rows;
      }
    }
  }
  int down = 0, across = 0;  // tiles of a block
  int blocks_across = 1;
};

// Square tiles of 8 or 16, numbered row by row within each simdgroup's block. Of a tile with width = Tile / 4, lane
// bits b4..b0 hold rows b4*4 + b2*2 + b1 (and that plus 8), columns (b3*2 + b0) * width and the next width - 1. With
// Tile = 8 that is the layout of simdgroup_matrix; two neighbouring elements are always a pair of such a matrix.
template <int Rows, int Columns, int Tile, int Simdgroups>
struct tiled_layout {
  METALLOID_FUNC static constexpr int rows() { return Rows; }
  METALLOID_FUNC static constexpr int columns() { return Columns; }
  METALLOID_FUNC static constexpr int tile_size() { return Tile; }
  METALLOID_FUNC static constexpr int width() { return Tile / 4; }
  METALLOID_FUNC static constexpr int halves() { return Tile / 8; }
  METALLOID_FUNC static constexpr int per_tile() { return width() * halves(); }
  METALLOID_FUNC static constexpr tile_blocks blocks() {
    return tile_blocks((Rows + Tile - 1) / Tile, (Columns + Tile - 1) / Tile, Simdgroups);
  }
  // Of a simdgroup.
  METALLOID_FUNC static constexpr int tiles_down() { return blocks().down; }
  METALLOID_FUNC static constexpr int tiles_across() { return blocks().across; }
  METALLOID_FUNC static constexpr int capacity() { return tiles_down() * tiles_across() * per_tile(); }
  // Where the calling simdgroup's block begins.
  METALLOID_FUNC static int first_row() {
    return Simdgroups == 1 ? 0 : thread_index() / 32 / blocks().blocks_across * tiles_down() * Tile;
  }
  METALLOID_FUNC static int first_column() {
    return Simdgroups == 1 ? 0 : thread_index() / 32 % blocks().blocks_across * tiles_across() * Tile;
  }

  METALLOID_FUNC static int lane_row() { return int(fragment_row(uint(simd_lane()))); }
  METALLOID_FUNC static int lane_column() { return int(fragment_column(uint(simd_lane()))) / 2 * width(); }
  METALLOID_FUNC static int row(int i) { return first_row() + slot_row(row_slot(i)); }
  METALLOID_FUNC static int column(int i) { return first_column() + slot_column(column_slot(i)); }

  // The rows and columns of the block that a lane has elements of, numbered.
  METALLOID_FUNC static constexpr int simdgroups() { return Simdgroups; }
  METALLOID_FUNC static constexpr int row_slots() { return tiles_down() * halves(); }
  METALLOID_FUNC static constexpr int column_slots() { return tiles_across() * width(); }
  METALLOID_FUNC static int row_slot(int i) {
    return i / per_tile() / tiles_across() * halves() + i % per_tile() / width();
  }
  METALLOID_FUNC static int column_slot(int i) { return i / per_tile() % tiles_across() * width() + i % width(); }
  METALLOID_FUNC static int slot_row(int slot) { return slot * 8 + lane_row(); }
  METALLOID_FUNC static int slot_column(int slot) { return slot / width() * Tile + lane_column() + slot % width(); }

  // The first element, an even one, of the 8 x 8 fragment that is `down` and `across` of the block's; the fragments of
  // a tile of 16 take turns with their pairs of columns.
  METALLOID_FUNC static constexpr int fragment(int down, int across) {
    return (down / halves() * tiles_across() + across / halves()) * per_tile() + down % halves() * width() +
           across % halves() * 2;
  }
};

// One element per row of a matrix of another layout, in every thread that has elements of the row.
template <typename Of>
struct rows_layout {
  METALLOID_FUNC static constexpr bool of_rows() { return true; }
  METALLOID_FUNC static constexpr int extent() { return Of::rows(); }
  METALLOID_FUNC static constexpr int capacity() { return Of::row_slots(); }
  METALLOID_FUNC static int position(int slot) { return Of::slot_row(slot); }
  // Bits of the numbers of the lanes that share a row.
  METALLOID_FUNC static constexpr ushort other_lanes() { return 0b01001; }
  template <typename Other>
  METALLOID_FUNC static constexpr bool fits() {
    return Other::rows() == Of::rows() && Other::simdgroups() == Of::simdgroups();
  }
  template <typename Other>
  METALLOID_FUNC static int slot_of(int i) {
    return Other::row_slot(i);
  }
};
template <typename Of>
struct columns_layout {
  METALLOID_FUNC static constexpr bool of_rows() { return false; }
  METALLOID_FUNC static constexpr int extent() { return Of::columns(); }
  METALLOID_FUNC static constexpr int capacity() { return Of::column_slots(); }
  METALLOID_FUNC static int position(int slot) { return Of::slot_column(slot); }
  METALLOID_FUNC static constexpr ushort other_lanes() { return 0b10110; }
  template <typename Other>
  METALLOID_FUNC static constexpr bool fits() {
    return Other::columns() == Of::columns() && Other::simdgroups() == Of::simdgroups() &&
           Other::width() == Of::width();
  }
  template <typename Other>
  METALLOID_FUNC static int slot_of(int i) {
    return Other::column_slot(i);
  }
};

// Knows which element it stands at, so that a reduction can find the row or column.
template <typename Element, typename Layout>
class cooperative_iterator {
 public:
  using layout_type = Layout;
  METALLOID_FUNC cooperative_iterator(Element* elements, int index) : elements_(elements), index_(index) {}
  METALLOID_FUNC int index() const { return index_; }
  METALLOID_FUNC Element& operator*() const { return elements_[index_]; }
  METALLOID_FUNC Element& operator[](int count) const { return elements_[index_ + count]; }
  METALLOID_FUNC cooperative_iterator operator++() { return {elements_, ++index_}; }
  METALLOID_FUNC cooperative_iterator operator++(int) { return {elements_, index_++}; }
  METALLOID_FUNC cooperative_iterator operator--() { return {elements_, --index_}; }
  METALLOID_FUNC cooperative_iterator operator+(int count) const { return {elements_, index_ + count}; }
  METALLOID_FUNC cooperative_iterator operator-(int count) const { return {elements_, index_ - count}; }
  METALLOID_FUNC int operator-(const cooperative_iterator& other) const { return index_ - other.index_; }
  METALLOID_FUNC bool operator==(const cooperative_iterator& other) const { return index_ == other.index_; }
  METALLOID_FUNC bool operator!=(const cooperative_iterator& other) const { return index_ != other.index_; }
  METALLOID_FUNC bool operator<(const cooperative_iterator& other) const { return index_ < other.index_; }

 private:
  Element* elements_;
  int index_;
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
  using iterator = __metalloid::cooperative_iterator<ElementType, Layout>;
  using const_iterator = __metalloid::cooperative_iterator<const ElementType, Layout>;

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
    if constexpr (get_rank() == 1) {
      return Layout::position(i) < Layout::extent();
    } else {
      return Layout::row(i) < Layout::rows() && Layout::column(i) < Layout::columns();
    }
  }
  // Dimension 0, of a matrix the column, first.
  METALLOID_FUNC static array<index_type, get_rank()> get_multidimensional_index(int i) {
    if constexpr (get_rank() == 1) {
      return {index_type(Layout::position(i))};
    } else {
      return {index_type(Layout::column(i)), index_type(Layout::row(i))};
    }
  }

  METALLOID_FUNC ElementType& operator[](int i) { return elements_[i]; }
  METALLOID_FUNC const ElementType& operator[](int i) const { return elements_[i]; }
  METALLOID_FUNC ElementType get(int i) const { return elements_[i]; }
  METALLOID_FUNC void set(int i, ElementType value) { elements_[i] = value; }
  METALLOID_FUNC iterator begin() { return {elements_, 0}; }
  METALLOID_FUNC iterator end() { return {elements_, Layout::capacity()}; }
  METALLOID_FUNC const_iterator begin() const { return {elements_, 0}; }
  METALLOID_FUNC const_iterator end() const { return {elements_, Layout::capacity()}; }
  // Of a reduction: its element for the row or column of a matrix' element.
  template <typename Iterator>
  METALLOID_FUNC iterator map_iterator(const Iterator& element) {
    return {elements_, Layout::template slot_of<typename Iterator::layout_type>(element.index())};
  }

  // To and from a tensor; zero where the tensor ends before the matrix does.
  template <typename Tensor>
  METALLOID_FUNC void load(const Tensor& source) {
    using Own = cooperative_tensor;
    if constexpr (are_tiles<Tensor>()) {
      const auto own = __metalloid::tiles::tile_of<Own>::describe(*this);
      const auto other = __metalloid::tiles::tile_of<Tensor>::describe(source);
      load_tile<Tensor>(METALLOID_TILE_ARGUMENTS(Own, own), METALLOID_TILE_ARGUMENTS(Tensor, other));
    } else {
      load_elements(source);
    }
  }
  template <typename Tensor>
  METALLOID_FUNC void store(const Tensor& destination) const {
    using Own = cooperative_tensor;
    if constexpr (are_tiles<Tensor>()) {
      const auto own = __metalloid::tiles::tile_of<Own>::describe(*this);
      const auto other = __metalloid::tiles::tile_of<Tensor>::describe(destination);
      store_tile<Tensor>(METALLOID_TILE_ARGUMENTS(Own, own), METALLOID_TILE_ARGUMENTS(Tensor, other));
    } else {
      store_elements(destination);
    }
  }

 private:
  template <typename Tensor>
  METALLOID_FUNC static constexpr bool are_tiles() {
    return __metalloid::tiles::tile_of<cooperative_tensor>::is_tile && __metalloid::tiles::tile_of<Tensor>::is_tile;
  }
  METALLOID_FUNC static constexpr int simdgroups() {
    if constexpr (get_rank() == 2) {
      return Layout::simdgroups();
    } else {
      return 0;
    }
  }

  // The engines' operations.
  template <typename Tensor>
  METALLOID_WHOLE_OPERATION("cooperative_tensor.load", simdgroups())
  METALLOID_FUNC static void load_tile(METALLOID_TILE(cooperative_tensor, own), METALLOID_TILE(Tensor, source)) {
    METALLOID_TILE_AGAIN(cooperative_tensor, own).load_elements(METALLOID_TILE_AGAIN(Tensor, source));
  }
  template <typename Tensor>
  METALLOID_WHOLE_OPERATION("cooperative_tensor.store", simdgroups())
  METALLOID_FUNC static void store_tile(METALLOID_TILE(cooperative_tensor, own), METALLOID_TILE(Tensor, destination)) {
    METALLOID_TILE_AGAIN(cooperative_tensor, own).store_elements(METALLOID_TILE_AGAIN(Tensor, destination));
  }

  template <typename Tensor>
  METALLOID_FUNC void load_elements(const Tensor& source) {
    if constexpr (get_rank() == 2) {
      if (lies_in(source)) {
        const long across = source.__metalloid_stride(0), down = source.__metalloid_stride(1);
#pragma unroll
        for (int i = 0; i < Layout::capacity(); ++i) {
          const long distance = Layout::row(i) * down + Layout::column(i) * across;
          elements_[i] = is_valid_element(i) ? ElementType(source.__metalloid_at(distance)) : ElementType(0);
        }
        return;
      }
    }
    // At an edge, which is rare: a loop beside the elements, which then can stay in registers.
    ElementType loaded[Layout::capacity()];
#pragma clang loop unroll(disable)
    for (int i = 0; i < Layout::capacity(); ++i) {
      loaded[i] = is_valid_element(i) ? ElementType(source.get(get_multidimensional_index(i))) : ElementType(0);
    }
#pragma unroll
    for (int i = 0; i < Layout::capacity(); ++i) elements_[i] = loaded[i];
  }
  template <typename Tensor>
  METALLOID_FUNC void store_elements(const Tensor& destination) const {
    using Value = typename Tensor::value_type;
    if constexpr (get_rank() == 2) {
      if (lies_in(destination)) {
        const long across = destination.__metalloid_stride(0), down = destination.__metalloid_stride(1);
#pragma unroll
        for (int i = 0; i < Layout::capacity(); ++i) {
          const long distance = Layout::row(i) * down + Layout::column(i) * across;
          if (is_valid_element(i)) destination.__metalloid_at(distance) = Value(elements_[i]);
        }
        return;
      }
    }
    ElementType stored[Layout::capacity()];
#pragma unroll
    for (int i = 0; i < Layout::capacity(); ++i) stored[i] = elements_[i];
#pragma clang loop unroll(disable)
    for (int i = 0; i < Layout::capacity(); ++i) {
      if (is_valid_element(i)) destination.set(Value(stored[i]), get_multidimensional_index(i));
    }
  }

  // Whether all elements that a thread may hold are in the tensor, also those that are not valid.
  template <typename Tensor>
  METALLOID_FUNC static bool lies_in(const Tensor& tensor) {
    return Layout::first_row() + Layout::row_slots() / Layout::halves() * Layout::tile_size() <=
               tensor.__metalloid_size(1) &&
           Layout::first_column() + Layout::column_slots() / Layout::width() * Layout::tile_size() <=
               tensor.__metalloid_size(0);
  }

  ElementType elements_[Layout::capacity()];  // T() are zeros
};

}  // namespace metal

#endif
