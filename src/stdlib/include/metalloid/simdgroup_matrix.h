// simdgroup_matrix (MSL spec §6.7): an 8x8 matrix whose elements are spread over the 32 lanes of a simdgroup, two
// neighbours of a row per lane. Apple leaves the layout open but kernels rely on it: with lane bits b4..b0, a lane
// holds row b4*4 + b2*2 + b1, columns b3*4 + b0*2 and the next.
#ifndef METALLOID_SIMDGROUP_MATRIX_H
#define METALLOID_SIMDGROUP_MATRIX_H

#include <metalloid/simdgroup.h>

namespace __metalloid {

METALLOID_FUNC uint fragment_row(uint lane) { return ((lane >> 2) & 4u) | ((lane >> 1) & 3u); }
METALLOID_FUNC uint fragment_column(uint lane) { return ((lane >> 1) & 4u) | ((lane << 1) & 2u); }
METALLOID_FUNC uint fragment_lane(uint row, uint column) {
  return ((row & 4u) << 2) | ((row & 3u) << 1) | ((column & 4u) << 1) | ((column & 2u) >> 1);
}

// Where the two elements of the calling lane lie in a matrix in memory, counted in elements. origin.x counts columns
// and origin.y rows of that matrix, before it is transposed.
struct lane_place {
  ulong first, second;
};
METALLOID_FUNC lane_place place_of_lane(ulong elements_per_row, ulong2 origin, bool transposed) {
  const uint lane = uint(simd_lane());
  const ulong row = fragment_row(lane), column = fragment_column(lane);
  const ulong first = transposed ? (origin.y + column) * elements_per_row + origin.x + row
                                 : (origin.y + row) * elements_per_row + origin.x + column;
  return {first, first + (transposed ? elements_per_row : 1ul)};
}

}  // namespace __metalloid

// The engines' operations; bfloats are the ushorts.
namespace __metalloid::matrices {
#define METALLOID_MULTIPLY_ACCUMULATE(a_type, a_name, b_type, b_name)                                   \
  __attribute__((convergent, const)) native_t<float, 2> multiply_accumulate(                            \
      native_t<a_type, 2>, native_t<b_type, 2>,                                                         \
      native_t<float, 2>) __asm("metalloid.simdgroup_matrix.multiply_accumulate." #a_name "." #b_name); \
  __attribute__((convergent, const)) native_t<float, 2> multiply_accumulate_relaxed(                    \
      native_t<a_type, 2>, native_t<b_type, 2>,                                                         \
      native_t<float, 2>) __asm("metalloid.simdgroup_matrix.multiply_accumulate_relaxed." #a_name "." #b_name);
METALLOID_MULTIPLY_ACCUMULATE(half, f16, half, f16)
METALLOID_MULTIPLY_ACCUMULATE(half, f16, ushort, bf16)
METALLOID_MULTIPLY_ACCUMULATE(half, f16, float, f32)
METALLOID_MULTIPLY_ACCUMULATE(ushort, bf16, half, f16)
METALLOID_MULTIPLY_ACCUMULATE(ushort, bf16, ushort, bf16)
METALLOID_MULTIPLY_ACCUMULATE(ushort, bf16, float, f32)
METALLOID_MULTIPLY_ACCUMULATE(float, f32, half, f16)
METALLOID_MULTIPLY_ACCUMULATE(float, f32, ushort, bf16)
METALLOID_MULTIPLY_ACCUMULATE(float, f32, float, f32)
#undef METALLOID_MULTIPLY_ACCUMULATE

// Whether the terms of a sum may be added up in any order: as of all sums of the source, by its mode.
#ifdef __FAST_MATH__
constexpr constant bool relaxed_mode = true;
#else
constexpr constant bool relaxed_mode = false;
#endif

template <bool Relaxed, typename A, typename B>
METALLOID_FUNC native_t<float, 2> product(A a, B b, native_t<float, 2> c) {
  if constexpr (Relaxed) {
    return multiply_accumulate_relaxed(a, b, c);
  } else {
    return multiply_accumulate(a, b, c);
  }
}

// The elements of the calling lane, from memory and to it.
template <typename T, typename Pointer>
METALLOID_FUNC metal::vec<T, 2> elements_at(Pointer source, lane_place place) {
  return metal::vec<T, 2>(static_cast<T>(source[place.first]), static_cast<T>(source[place.second]));
}
template <typename T, typename Pointer>
METALLOID_FUNC void set_elements_at(metal::vec<T, 2> elements, Pointer destination, lane_place place) {
  destination[place.first] = elements.x;
  destination[place.second] = elements.y;
}

template <typename T, typename Pointer>
METALLOID_WHOLE_OPERATION("simdgroup_matrix.load")
METALLOID_FUNC auto load(Pointer source, ulong stride, ulong column, ulong row, bool transposed) {
  return elements_at<T>(source, place_of_lane(stride, ulong2(column, row), transposed)).__native;
}
template <typename T, typename Pointer, typename Native>
METALLOID_WHOLE_OPERATION("simdgroup_matrix.store")
METALLOID_FUNC void store(Native elements, Pointer to, ulong stride, ulong column, ulong row, bool transposed) {
  set_elements_at(metal::vec<T, 2>(elements, native_tag()), to, place_of_lane(stride, ulong2(column, row), transposed));
}

// The operations convert nothing.
template <typename T, typename Pointer>
inline constexpr bool points_at = metal::is_same_v<
    T, metal::remove_cv_t<metal::remove_addrspace_t<metal::remove_pointer_t<metal::remove_cv_t<Pointer>>>>>;

}  // namespace __metalloid::matrices

namespace metal {

template <typename T, int Columns, int Rows = Columns>
class simdgroup_matrix {
  static_assert(Columns == 8 && Rows == 8, "simdgroup matrices are 8x8");

 public:
  using storage_type = vec<T, 2>;

  simdgroup_matrix() = default;
  // The value on the diagonal, zero elsewhere.
  METALLOID_FUNC explicit simdgroup_matrix(T value) {
    const uint lane = uint(__metalloid::simd_lane());
    const uint row = __metalloid::fragment_row(lane), column = __metalloid::fragment_column(lane);
    elements_ = vec<T, 2>(row == column ? value : T(0), row == column + 1 ? value : T(0));
  }
  METALLOID_FUNC explicit simdgroup_matrix(vec<T, 2> elements) : elements_(elements) {}

  METALLOID_FUNC vec<T, 2>& thread_elements() { return elements_; }
  METALLOID_FUNC const vec<T, 2>& thread_elements() const { return elements_; }

 private:
  vec<T, 2> elements_;
};

// Kernels take thread_elements() for the elements or for their address: `*m.thread_elements()` is the elements, too.
template <typename T>
METALLOID_FUNC vec<T, 2>& operator*(vec<T, 2>& elements) {
  return elements;
}
template <typename T>
METALLOID_FUNC const vec<T, 2>& operator*(const vec<T, 2>& elements) {
  return elements;
}

typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <typename T, int Columns, int Rows = Columns>
METALLOID_FUNC simdgroup_matrix<T, Columns, Rows> make_filled_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, Columns, Rows>(vec<T, 2>(value));
}
template <typename T, int Columns, int Rows = Columns>
METALLOID_FUNC simdgroup_matrix<T, Columns, Rows> make_diagonal_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, Columns, Rows>(value);
}

template <typename T, int Columns, int Rows, typename Pointer>
METALLOID_FUNC void simdgroup_load(simdgroup_matrix<T, Columns, Rows>& matrix, Pointer source,
                                   ulong elements_per_row = Columns, ulong2 origin = ulong2(0),
                                   bool transpose_matrix = false) {
  namespace matrices = __metalloid::matrices;
  if constexpr (matrices::points_at<T, Pointer>) {
    matrix.thread_elements() = vec<T, 2>(
        matrices::load<T>(source, elements_per_row, origin.x, origin.y, transpose_matrix), __metalloid::native_tag());
  } else {
    matrix.thread_elements() =
        matrices::elements_at<T>(source, __metalloid::place_of_lane(elements_per_row, origin, transpose_matrix));
  }
}

template <typename T, int Columns, int Rows, typename Pointer>
METALLOID_FUNC void simdgroup_store(simdgroup_matrix<T, Columns, Rows> matrix, Pointer destination,
                                    ulong elements_per_row = Columns, ulong2 origin = ulong2(0),
                                    bool transpose_matrix = false) {
  namespace matrices = __metalloid::matrices;
  if constexpr (matrices::points_at<T, Pointer>) {
    matrices::store<T>(matrix.thread_elements().__native, destination, elements_per_row, origin.x, origin.y,
                       transpose_matrix);
  } else {
    matrices::set_elements_at(matrix.thread_elements(), destination,
                              __metalloid::place_of_lane(elements_per_row, origin, transpose_matrix));
  }
}

// d = a * b + c, whatever the elements: products and sums in float, d rounded once.
template <typename D, typename A, typename B, typename C>
METALLOID_FUNC void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                                  simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c) {
  namespace matrices = __metalloid::matrices;
  const __metalloid::native_t<float, 2> sum = matrices::product<matrices::relaxed_mode>(
      a.thread_elements().__native, b.thread_elements().__native, float2(c.thread_elements()).__native);
  d.thread_elements() = vec<D, 2>(vec<float, 2>(sum, __metalloid::native_tag()));
}

template <typename D, typename A, typename B>
METALLOID_FUNC void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                       simdgroup_matrix<B, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, simdgroup_matrix<float, 8, 8>(float2(0.0f)));
}

template <typename T>
METALLOID_FUNC simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a, simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> product;
  simdgroup_multiply(product, a, b);
  return product;
}

}  // namespace metal

// The internal name behind the product: fragments travel as vectors of 64, of which a lane uses the first two. The last
// argument only gives the result's type.
template <typename A, typename B, typename C, typename D>
METALLOID_FUNC metal::vec<D, 64> __metal_simdgroup_matrix_8x8_multiply_accumulate(metal::vec<A, 64> a,
                                                                                  metal::vec<B, 64> b,
                                                                                  metal::vec<C, 64> c,
                                                                                  metal::vec<D, 64> d) {
  metal::simdgroup_matrix<D, 8, 8> result;
  metal::simdgroup_multiply_accumulate(result, metal::simdgroup_matrix<A, 8, 8>(metal::vec<A, 2>(a[0], a[1])),
                                       metal::simdgroup_matrix<B, 8, 8>(metal::vec<B, 2>(b[0], b[1])),
                                       metal::simdgroup_matrix<C, 8, 8>(metal::vec<C, 2>(c[0], c[1])));
  d[0] = result.thread_elements().x;
  d[1] = result.thread_elements().y;
  return d;
}

#endif
