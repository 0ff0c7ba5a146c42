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

}  // namespace __metalloid

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

// origin.x counts columns and origin.y rows of the matrix in memory, before it is transposed.
template <typename T, int Columns, int Rows, typename Pointer>
METALLOID_FUNC void simdgroup_load(simdgroup_matrix<T, Columns, Rows>& matrix, Pointer source,
                                   ulong elements_per_row = Columns, ulong2 origin = ulong2(0),
                                   bool transpose_matrix = false) {
  const uint lane = uint(__metalloid::simd_lane());
  const ulong row = __metalloid::fragment_row(lane), column = __metalloid::fragment_column(lane);
  const ulong first = transpose_matrix ? (origin.y + column) * elements_per_row + origin.x + row
                                       : (origin.y + row) * elements_per_row + origin.x + column;
  const ulong step = transpose_matrix ? elements_per_row : 1ul;
  matrix.thread_elements() = vec<T, 2>(static_cast<T>(source[first]), static_cast<T>(source[first + step]));
}

template <typename T, int Columns, int Rows, typename Pointer>
METALLOID_FUNC void simdgroup_store(simdgroup_matrix<T, Columns, Rows> matrix, Pointer destination,
                                    ulong elements_per_row = Columns, ulong2 origin = ulong2(0),
                                    bool transpose_matrix = false) {
  const uint lane = uint(__metalloid::simd_lane());
  const ulong row = __metalloid::fragment_row(lane), column = __metalloid::fragment_column(lane);
  const ulong first = transpose_matrix ? (origin.y + column) * elements_per_row + origin.x + row
                                       : (origin.y + row) * elements_per_row + origin.x + column;
  const ulong step = transpose_matrix ? elements_per_row : 1ul;
  destination[first] = matrix.thread_elements().x;
  destination[first + step] = matrix.thread_elements().y;
}

// d = a * b + c, summed in float. A lane fetches its row of a in four pairs and its two columns of b in eight.
template <typename D, typename A, typename B, typename C>
METALLOID_FUNC void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, simdgroup_matrix<A, 8, 8> a,
                                                  simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c) {
  const uint lane = uint(__metalloid::simd_lane());
  const uint row = __metalloid::fragment_row(lane), column = __metalloid::fragment_column(lane);
  float2 sum = float2(c.thread_elements());
#pragma clang loop unroll(full)
  for (uint k = 0; k < 8; k += 2) {
    const float2 from_a = float2(simd_shuffle(a.thread_elements(), ushort(__metalloid::fragment_lane(row, k))));
    const float2 even = float2(simd_shuffle(b.thread_elements(), ushort(__metalloid::fragment_lane(k, column))));
    const float2 odd = float2(simd_shuffle(b.thread_elements(), ushort(__metalloid::fragment_lane(k + 1, column))));
    sum = fma(float2(from_a.x), even, sum);
    sum = fma(float2(from_a.y), odd, sum);
  }
  d.thread_elements() = vec<D, 2>(D(sum.x), D(sum.y));
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

#endif
