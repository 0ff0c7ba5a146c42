// What describes a tile to the engines' operations on tiles (src/ir/operations.def), and the tile that it describes: a
// tensor in memory, or what a thread holds of a cooperative tensor.
#ifndef METALLOID_TENSOR_TILES_H
#define METALLOID_TENSOR_TILES_H

#include <metalloid/tensor.h>

namespace metal {
template <typename ElementType, typename Extents, typename Layout>
class cooperative_tensor;
}  // namespace metal

namespace __metalloid::tiles {

// TileElement; of other types there are no such tiles.
template <typename T>
inline constexpr int element_number = -1;
#define METALLOID_TILE_ELEMENT(type, number) \
  template <>                                \
  inline constexpr int element_number<type> = number;
METALLOID_TILE_ELEMENT(half, 0)
METALLOID_TILE_ELEMENT(bfloat, 1)
METALLOID_TILE_ELEMENT(float, 2)
METALLOID_TILE_ELEMENT(char, 3)
METALLOID_TILE_ELEMENT(uchar, 4)
METALLOID_TILE_ELEMENT(short, 5)
METALLOID_TILE_ELEMENT(ushort, 6)
METALLOID_TILE_ELEMENT(int, 7)
METALLOID_TILE_ELEMENT(uint, 8)
METALLOID_TILE_ELEMENT(long, 9)
METALLOID_TILE_ELEMENT(ulong, 10)
METALLOID_TILE_ELEMENT(metal::int4b_format, 11)
METALLOID_TILE_ELEMENT(metal::uint4b_format, 12)
#undef METALLOID_TILE_ELEMENT

// Of an operation's parameters for a tile, those that are numbers when the kernel runs.
template <typename Address>
struct description {
  Address address;
  long columns, rows, across, down, first;
};

template <typename T>
struct tile {
  static constexpr constant bool is_tile = false;
};

template <typename Element, typename Extents, typename Descriptor, typename... Tags>
struct tile<metal::tensor<Element, Extents, Descriptor, Tags...>> {
  using tensor = metal::tensor<Element, Extents, Descriptor, Tags...>;
  using address_type = typename tensor::data_handle_type;
  static constexpr constant int element = element_number<metal::remove_cv_t<metal::remove_addrspace_t<Element>>>;
  static constexpr constant bool is_tile = Extents::rank() == 2 && element >= 0;
  METALLOID_FUNC static description<address_type> describe(const tensor& of) {
    return {of.data_handle(),         of.__metalloid_size(0),   of.__metalloid_size(1),
            of.__metalloid_stride(0), of.__metalloid_stride(1), of.__metalloid_first()};
  }
  METALLOID_FUNC static auto make(address_type address, long columns, long rows, long across, long down, long first) {
    return metal::tensor<Element, metal::dextents<int, 2>, metal::tensor_inline>::__metalloid_matrix(
        address, columns, rows, across, down, first);
  }
};

template <typename Element, typename Extents, typename Layout>
struct tile<metal::cooperative_tensor<Element, Extents, Layout>> {
  using tensor = metal::cooperative_tensor<Element, Extents, Layout>;
  using address_type = thread Element*;
  static constexpr constant int element = element_number<Element>;
  static constexpr constant bool is_tile = Extents::rank() == 2 && element >= 0;
  // What reads a tile and what writes one take the same address.
  METALLOID_FUNC static description<address_type> describe(const tensor& of) {
    constexpr long columns = Layout::columns(), rows = Layout::rows(), simdgroups = Layout::simdgroups();
    constexpr long fragment = simdgroups == 0 ? 0 : Layout::tile_size();
    return {const_cast<address_type>(&of[0]), columns, rows, fragment, simdgroups, 0};
  }
  // The elements are all that it has.
  METALLOID_FUNC static tensor& make(address_type address, long, long, long, long, long) {
    return *reinterpret_cast<thread tensor*>(address);
  }
};

template <typename T>
using tile_of = tile<metal::remove_cv_t<metal::remove_addrspace_t<metal::remove_reference_t<T>>>>;

}  // namespace __metalloid::tiles

// Parameters of an operation for a tile, what they are given by its description, and the tile again.
#define METALLOID_TILE(T, name)                                                                      \
  typename __metalloid::tiles::tile_of<T>::address_type name, long name##_columns, long name##_rows, \
      long name##_across, long name##_down, long name##_first, int /* element */
#define METALLOID_TILE_ARGUMENTS(T, its) \
  its.address, its.columns, its.rows, its.across, its.down, its.first, __metalloid::tiles::tile_of<T>::element
#define METALLOID_TILE_AGAIN(T, name) \
  __metalloid::tiles::tile_of<T>::make(name, name##_columns, name##_rows, name##_across, name##_down, name##_first)

#endif
