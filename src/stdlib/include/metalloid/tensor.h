// tensor<element, extents, descriptor, tags...>: a view of device, constant or threadgroup memory with sizes and
// strides. A tensor_handle is bound by the host to a [[buffer(n)]] argument; a tensor_inline is made in a kernel.
#ifndef METALLOID_TENSOR_H
#define METALLOID_TENSOR_H

#include <metalloid/tensor_elements.h>
#include <metalloid/tensor_extents.h>

// An error at the line of the call, not in here.
#define METALLOID_REFUSE(CONDITION, MESSAGE) __attribute__((diagnose_if(CONDITION, MESSAGE, "error")))

namespace metal {

struct tensor_handle {};
struct tensor_inline {};
// A tag: the view begins at an offset into the tensor that a handle stands for.
struct tensor_offset {};

template <typename ElementType, typename Extents, typename Descriptor = tensor_handle, typename... Tags>
class tensor {
  static_assert(is_same_v<Descriptor, tensor_handle> || is_same_v<Descriptor, tensor_inline>,
                "a tensor's descriptor is tensor_handle or tensor_inline");
  using element = __metalloid::tensor_element<ElementType>;
  using pointer = typename element::pointer;
  static_assert(is_pointer_v<pointer> || is_same_v<Descriptor, tensor_inline>,
                "a tensor of 4-bit integers is made in a kernel: tensor_inline");
  static_assert((is_same_v<Tags, tensor_offset> && ...), "a tensor's only tag is tensor_offset");

 public:
  using element_type = ElementType;
  using value_type = typename element::value_type;
  using extents_type = Extents;
  using index_type = typename Extents::index_type;
  using size_type = typename Extents::size_type;
  using rank_type = typename Extents::rank_type;
  using descriptor_type = Descriptor;
  using data_handle_type = typename element::data_handle_type;
  using reference = typename element::reference;

  METALLOID_FUNC static constexpr rank_type get_rank() { return Extents::rank(); }
  METALLOID_FUNC static constexpr size_t get_static_extent(rank_type dimension) {
    return Extents::static_extent(dimension);
  }
  METALLOID_FUNC static constexpr bool has_static_extent(rank_type dimension) {
    return get_static_extent(dimension) != dynamic_extent;
  }
  METALLOID_FUNC static constexpr bool has_all_static_extents() { return Extents::rank_dynamic() == 0; }

  tensor() = default;
  // Elements without gaps.
  template <typename D = Descriptor, enable_if_t<is_same_v<D, tensor_inline>, int> = 0>
  METALLOID_FUNC tensor(data_handle_type data, const Extents& sizes) : data_(data) {
    make_dense(sizes, dimensions());
  }
  // Strides count elements.
  template <typename U, size_t N, typename D = Descriptor, enable_if_t<is_same_v<D, tensor_inline>, int> = 0>
  METALLOID_FUNC tensor(data_handle_type data, const Extents& sizes, const array<U, N>& strides) : data_(data) {
    static_assert(N == get_rank(), "a tensor takes one stride per dimension");
    make_strided(sizes, strides, dimensions());
  }

  METALLOID_FUNC index_type get_extent(rank_type dimension) const {
    if (dimension < get_rank() && has_static_extent(dimension)) return index_type(get_static_extent(dimension));
    return index_type(extents_[dimension]);
  }
  METALLOID_FUNC index_type get_stride(rank_type dimension) const { return index_type(stride(dimension)); }
  METALLOID_FUNC data_handle_type data_handle() const { return data_; }

  // For operations on whole tensors. A slice of fixed size can reach over the edge of what it was cut from: the
  // elements that it has in a dimension, and one by its distance from the first.
  METALLOID_FUNC long __metalloid_size(rank_type dimension) const { return extents_[dimension]; }
  METALLOID_FUNC long __metalloid_stride(rank_type dimension) const { return stride(dimension); }
  METALLOID_FUNC reference __metalloid_at(long distance) const { return data_[distance]; }
  // Elements from data_handle() to the first.
  METALLOID_FUNC long __metalloid_first() const {
    if constexpr (is_pointer_v<pointer>) {
      return 0;
    } else {
      return data_.first();
    }
  }
  METALLOID_FUNC static tensor __metalloid_matrix(data_handle_type data, long columns, long rows, long across,
                                                  long down, long first) {
    tensor result;
    result.data_ = pointer(data) + first;
    result.extents_[0] = columns;
    result.extents_[1] = rows;
    result.strides_[0] = across;
    result.strides_[1] = down;
    return result;
  }

  // The element; undefined outside the tensor, as in Metal.
  template <typename... Indices>
  METALLOID_FUNC reference operator[](Indices... indices) const
      METALLOID_REFUSE(sizeof...(Indices) != get_rank(), "a tensor takes one index per dimension") {
    static_assert((is_convertible_v<Indices, index_type> && ...), "a tensor's indices are integers");
    const long position[] = {static_cast<long>(indices)..., 0};
    return data_[offset_of(position, dimensions())];
  }
  template <typename U, size_t N>
  METALLOID_FUNC reference operator[](array<U, N> indices) const
      METALLOID_REFUSE(N != get_rank(), "a tensor takes one index per dimension") {
    return at(indices, dimensions());
  }

  // The element, or zero outside the tensor.
  template <typename... Indices>
  METALLOID_FUNC value_type get(Indices... indices) const
      METALLOID_REFUSE(sizeof...(Indices) != get_rank(), "a tensor takes one index per dimension") {
    const long position[] = {static_cast<long>(indices)..., 0};
    return load(position);
  }
  template <typename U, size_t N>
  METALLOID_FUNC value_type get(array<U, N> indices) const
      METALLOID_REFUSE(N != get_rank(), "a tensor takes one index per dimension") {
    return get_at(indices, dimensions());
  }

  // Writes the element; nothing happens outside the tensor.
  template <typename... Indices>
  METALLOID_FUNC void set(value_type value, Indices... indices) const
      METALLOID_REFUSE(sizeof...(Indices) != get_rank(), "a tensor takes one index per dimension") {
    const long position[] = {static_cast<long>(indices)..., 0};
    store(position, value);
  }
  template <typename U, size_t N>
  METALLOID_FUNC void set(value_type value, array<U, N> indices) const
      METALLOID_REFUSE(N != get_rank(), "a tensor takes one index per dimension") {
    set_at(value, indices, dimensions());
  }

  // The same for a part that lies inside the tensor, which Metal then need not check.
  template <size_t... Sizes, typename... Origin>
  METALLOID_FUNC auto static_slice(Origin... origin) const {
    static_assert(sizeof...(Sizes) == get_rank(), "a static_slice takes one size per dimension");
    return slice<Sizes...>(origin...);
  }

  // The part that begins at `origin`: up to this tensor's end in dynamic dimensions, else of the given sizes.
  template <size_t... Sizes, typename... Origin>
  METALLOID_FUNC auto slice(Origin... origin) const
      METALLOID_REFUSE(sizeof...(Origin) != get_rank(), "a slice takes one origin per dimension") {
    static_assert(sizeof...(Sizes) == 0 || sizeof...(Sizes) == get_rank(), "a slice takes one size per dimension");
    using Sized =
        conditional_t<sizeof...(Sizes) == 0, dextents<index_type, Extents::rank()>, extents<index_type, Sizes...>>;
    using Slice =
        conditional_t<is_same_v<Descriptor, tensor_handle>, tensor<ElementType, Sized, tensor_handle, tensor_offset>,
                      tensor<ElementType, Sized, tensor_inline>>;
    const long begin[] = {static_cast<long>(origin)..., 0};
    Slice result;
    result.data_ = data_ + offset_of(begin, dimensions());
    make_slice(result, begin, dimensions());
    return result;
  }

 private:
  template <typename, typename, typename, typename...>
  friend class tensor;

  // Metal requires stride 1 in dimension 0 of what a host binds, and the dispatch checks it.
  METALLOID_FUNC long stride(rank_type dimension) const {
    return is_same_v<Descriptor, tensor_handle> && dimension == 0 ? 1 : strides_[dimension];
  }
  // Folds over the dimensions, not loops: nothing then keeps a tensor out of registers.
  using dimensions = make_index_sequence<Extents::rank()>;

  template <size_t... d>
  METALLOID_FUNC long offset_of(const long* position, index_sequence<d...>) const {
    return ((position[d] * stride(d)) + ... + 0L);
  }
  template <size_t... d>
  METALLOID_FUNC bool contains(const long* position, index_sequence<d...>) const {
    return ((position[d] >= 0 && position[d] < extents_[d]) && ...);
  }
  METALLOID_FUNC value_type load(const long* position) const {
    return contains(position, dimensions()) ? value_type(data_[offset_of(position, dimensions())]) : value_type(0);
  }
  METALLOID_FUNC void store(const long* position, value_type value) const {
    if (contains(position, dimensions())) data_[offset_of(position, dimensions())] = value;
  }
  template <typename Indices, size_t... d>
  METALLOID_FUNC reference at(const Indices& indices, index_sequence<d...>) const {
    return (*this)[static_cast<long>(indices[d])...];
  }
  template <typename Indices, size_t... d>
  METALLOID_FUNC value_type get_at(const Indices& indices, index_sequence<d...>) const {
    return get(static_cast<long>(indices[d])...);
  }
  template <typename Indices, size_t... d>
  METALLOID_FUNC void set_at(value_type value, const Indices& indices, index_sequence<d...>) const {
    set(value, static_cast<long>(indices[d])...);
  }
  template <size_t... d>
  METALLOID_FUNC void make_dense(const Extents& sizes, index_sequence<d...>) {
    long stride = 1;
    ((extents_[d] = sizes.extent(d), strides_[d] = stride, stride *= extents_[d]), ...);
  }
  template <typename Strides, size_t... d>
  METALLOID_FUNC void make_strided(const Extents& sizes, const Strides& strides, index_sequence<d...>) {
    ((extents_[d] = sizes.extent(d), strides_[d] = strides[d]), ...);
  }
  // What get and set may touch ends with this tensor: a slice of fixed size can reach over its edge.
  template <typename Slice>
  METALLOID_FUNC static long size_in_slice(size_t dimension, long rest) {
    const long fixed = long(Slice::get_static_extent(dimension));
    rest = rest > 0 ? rest : 0;
    return Slice::has_static_extent(dimension) && fixed < rest ? fixed : rest;
  }
  template <typename Slice, size_t... d>
  METALLOID_FUNC void make_slice(thread Slice& slice, const long* begin, index_sequence<d...>) const {
    ((slice.extents_[d] = size_in_slice<Slice>(d, extents_[d] - begin[d]), slice.strides_[d] = strides_[d]), ...);
  }

  // The host binds a tensor_handle as exactly these members (metalloid::Dispatch::tensor).
  pointer data_;
  long extents_[Extents::rank() == 0 ? 1 : Extents::rank()];
  long strides_[Extents::rank() == 0 ? 1 : Extents::rank()];
};

template <typename ElementType, typename Extents>
tensor(ElementType*, Extents) -> tensor<ElementType, Extents, tensor_inline>;
template <typename ElementType, typename Extents, typename U, size_t N>
tensor(ElementType*, Extents, array<U, N>) -> tensor<ElementType, Extents, tensor_inline>;

}  // namespace metal

#undef METALLOID_REFUSE

#endif
