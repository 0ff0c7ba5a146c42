// What a tensor's elements are in memory. Most are themselves; of 4-bit integers two share a byte, the one with the
// even index in its lower half.
#ifndef METALLOID_TENSOR_ELEMENTS_H
#define METALLOID_TENSOR_ELEMENTS_H

#include <metalloid/array.h>
#include <metalloid/tensor_formats.h>
#include <metalloid/type_traits.h>

namespace __metalloid {

// Half a byte, which reads as a whole number.
template <typename Byte, typename Value>
class half_byte {
 public:
  METALLOID_FUNC half_byte(Byte* byte, uint shift) : byte_(byte), shift_(shift) {}
  METALLOID_FUNC operator Value() const {
    const int bits = *byte_ >> shift_ & 15;
    return Value(metal::is_signed_v<Value> && bits > 7 ? bits - 16 : bits);
  }
  METALLOID_FUNC half_byte operator=(Value value) const {
    *byte_ = uchar((*byte_ & ~(15u << shift_)) | (uint(value) & 15u) << shift_);
    return *this;
  }

 private:
  Byte* byte_;
  uint shift_;
};

template <typename Byte, typename Value>
class half_byte_pointer {
 public:
  half_byte_pointer() = default;
  METALLOID_FUNC half_byte_pointer(Byte* bytes, long first = 0) : bytes_(bytes), first_(first) {}
  METALLOID_FUNC half_byte_pointer operator+(long count) const { return {bytes_, first_ + count}; }
  METALLOID_FUNC half_byte<Byte, Value> operator[](long index) const {
    const long at = first_ + index;
    return {bytes_ + (at >> 1), uint(at & 1) * 4};
  }
  METALLOID_FUNC operator Byte*() const { return bytes_ + (first_ >> 1); }
  // Behind that address, in elements.
  METALLOID_FUNC long first() const { return first_ & 1; }

 private:
  Byte* bytes_;
  long first_;
};

template <typename ElementType>
struct tensor_element {
  using value_type = metal::remove_cv_t<metal::remove_addrspace_t<ElementType>>;
  using pointer = ElementType*;
  using reference = ElementType&;
  using data_handle_type = ElementType*;
};
template <typename Byte, typename Value>
struct half_byte_element {
  using value_type = Value;
  using pointer = half_byte_pointer<Byte, Value>;
  using reference = half_byte<Byte, Value>;
  using data_handle_type = Byte*;
};

#define METALLOID_HALF_BYTES(SPACE)                                                           \
  template <>                                                                                 \
  struct tensor_element<SPACE metal::int4b_format> : half_byte_element<SPACE uchar, char> {}; \
  template <>                                                                                 \
  struct tensor_element<SPACE metal::uint4b_format> : half_byte_element<SPACE uchar, uchar> {};
METALLOID_HALF_BYTES(device)
METALLOID_HALF_BYTES(const device)
METALLOID_HALF_BYTES(constant)
METALLOID_HALF_BYTES(const constant)
METALLOID_HALF_BYTES(threadgroup)
METALLOID_HALF_BYTES(const threadgroup)
#undef METALLOID_HALF_BYTES

}  // namespace __metalloid

#endif
