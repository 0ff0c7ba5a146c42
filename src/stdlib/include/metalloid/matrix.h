// matrix<T, Columns, Rows> (MSL spec §2.3): an array of column vectors, each aligned as a vector.
#ifndef METALLOID_MATRIX_H
#define METALLOID_MATRIX_H

#include <metalloid/geometric.h>

namespace metal {

template <typename T, int Columns, int Rows>
class matrix {
 public:
  using Column = vec<T, Rows>;

  Column columns[Columns];

  matrix() = default;
  // The value on the diagonal, zero elsewhere.
  METALLOID_FUNC explicit constexpr matrix(T value) : matrix(make_index_sequence<Columns>(), value) {}
  // Columns, or all elements column by column.
  template <typename... A, enable_if_t<sizeof...(A) == Columns && (__metalloid::is_vector<A> && ...), int> = 0>
  METALLOID_FUNC constexpr matrix(A... values) : columns{Column(values)...} {}
  template <typename... A, enable_if_t<sizeof...(A) == Columns * Rows && (__metalloid::is_scalar<A> && ...), int> = 0>
  METALLOID_FUNC constexpr matrix(A... values) : matrix(Elements{{static_cast<T>(values)...}}) {}
  template <typename U, enable_if_t<!__is_same(U, T), int> = 0>
  METALLOID_FUNC explicit constexpr matrix(const matrix<U, Columns, Rows>& other)
      : matrix(make_index_sequence<Columns>(), other) {}

  METALLOID_OWN_SPACE METALLOID_FUNC constexpr Column& operator[](int column) { return columns[column]; }
  METALLOID_OWN_SPACE METALLOID_FUNC constexpr const Column& operator[](int column) const { return columns[column]; }

#define METALLOID_MATRIX_BINARY(op)                                                      \
  METALLOID_FUNC friend constexpr matrix operator op(const matrix& a, const matrix& b) { \
    matrix result(T(0));                                                                 \
    for (int i = 0; i < Columns; ++i) result.columns[i] = a.columns[i] op b.columns[i];  \
    return result;                                                                       \
  }                                                                                      \
  METALLOID_FUNC constexpr matrix& operator op## = (const matrix& other) { return *this = *this op other; }
  METALLOID_MATRIX_BINARY(+)
  METALLOID_MATRIX_BINARY(-)
#undef METALLOID_MATRIX_BINARY

  METALLOID_FUNC friend constexpr matrix operator-(const matrix& a) { return a * T(-1); }
  METALLOID_FUNC friend constexpr matrix operator*(const matrix& a, T scale) {
    matrix result(T(0));
    for (int i = 0; i < Columns; ++i) result.columns[i] = a.columns[i] * scale;
    return result;
  }
  METALLOID_FUNC friend constexpr matrix operator*(T scale, const matrix& a) { return a * scale; }
  METALLOID_FUNC constexpr matrix& operator*=(T scale) { return *this = *this * scale; }
  // Not in the specification (§3.2); Apple's compiler takes it, and public kernels use it.
  METALLOID_FUNC friend constexpr matrix operator/(const matrix& a, T scale) {
    matrix result(T(0));
    for (int i = 0; i < Columns; ++i) result.columns[i] = a.columns[i] / scale;
    return result;
  }
  METALLOID_FUNC constexpr matrix& operator/=(T scale) { return *this = *this / scale; }

  // matrix * column vector
  METALLOID_FUNC friend constexpr Column operator*(const matrix& a, const vec<T, Columns>& v) {
    Column result = a.columns[0] * v.x;
    for (int i = 1; i < Columns; ++i) result = result + a.columns[i] * v[i];
    return result;
  }
  // row vector * matrix
  METALLOID_FUNC friend constexpr vec<T, Columns> operator*(const Column& v, const matrix& a) {
    vec<T, Columns> result(T(0));
    for (int i = 0; i < Columns; ++i) result[i] = dot(v, a.columns[i]);
    return result;
  }
  template <int Others>
  METALLOID_FUNC friend constexpr matrix<T, Others, Rows> operator*(const matrix& a,
                                                                    const matrix<T, Others, Columns>& b) {
    matrix<T, Others, Rows> result(T(0));
    for (int i = 0; i < Others; ++i) result[i] = a * b[i];
    return result;
  }
  METALLOID_FUNC constexpr matrix& operator*=(const matrix<T, Columns, Columns>& other) {
    return *this = *this * other;
  }
  METALLOID_FUNC friend constexpr bool operator==(const matrix& a, const matrix& b) {
    bool equal = true;
    for (int i = 0; i < Columns; ++i) {
      for (int j = 0; j < Rows; ++j) equal = equal && a.columns[i][j] == b.columns[i][j];
    }
    return equal;
  }
  METALLOID_FUNC friend constexpr bool operator!=(const matrix& a, const matrix& b) { return !(a == b); }

 private:
  struct Elements {
    T values[Columns * Rows];
  };
  METALLOID_FUNC static constexpr Column column_of(const T* values) {
    Column column(T(0));
    for (int i = 0; i < Rows; ++i) column[i] = values[i];
    return column;
  }
  template <size_t... i>
  METALLOID_FUNC constexpr matrix(index_sequence<i...>, const Elements& elements)
      : columns{column_of(elements.values + i * Rows)...} {}
  METALLOID_FUNC constexpr matrix(const Elements& elements) : matrix(make_index_sequence<Columns>(), elements) {}
  METALLOID_FUNC static constexpr Column diagonal_column(int i, T value) {
    Column column(T(0));
    if (i < Rows) column[i] = value;
    return column;
  }
  template <size_t... i>
  METALLOID_FUNC constexpr matrix(index_sequence<i...>, T value) : columns{diagonal_column(i, value)...} {}
  template <size_t... i, typename U>
  METALLOID_FUNC constexpr matrix(index_sequence<i...>, const matrix<U, Columns, Rows>& other)
      : columns{Column(other[i])...} {}
};

template <typename T, int Columns, int Rows>
METALLOID_FUNC constexpr matrix<T, Rows, Columns> transpose(const matrix<T, Columns, Rows>& a) {
  matrix<T, Rows, Columns> result(T(0));
  for (int i = 0; i < Columns; ++i) {
    for (int j = 0; j < Rows; ++j) result[j][i] = a[i][j];
  }
  return result;
}

template <typename T>
METALLOID_FUNC constexpr T determinant(const matrix<T, 2, 2>& a) {
  return T(a[0].x * a[1].y - a[0].y * a[1].x);
}
template <typename T>
METALLOID_FUNC constexpr T determinant(const matrix<T, 3, 3>& a) {
  return T(dot(a[0], cross(a[1], a[2])));
}
template <typename T>
METALLOID_FUNC constexpr T determinant(const matrix<T, 4, 4>& a) {
  // Laplace expansion by the 2x2 minors of the first two and the last two columns.
  const T s0 = a[0].x * a[1].y - a[1].x * a[0].y, s1 = a[0].x * a[1].z - a[1].x * a[0].z;
  const T s2 = a[0].x * a[1].w - a[1].x * a[0].w, s3 = a[0].y * a[1].z - a[1].y * a[0].z;
  const T s4 = a[0].y * a[1].w - a[1].y * a[0].w, s5 = a[0].z * a[1].w - a[1].z * a[0].w;
  const T c0 = a[2].x * a[3].y - a[3].x * a[2].y, c1 = a[2].x * a[3].z - a[3].x * a[2].z;
  const T c2 = a[2].x * a[3].w - a[3].x * a[2].w, c3 = a[2].y * a[3].z - a[3].y * a[2].z;
  const T c4 = a[2].y * a[3].w - a[3].y * a[2].w, c5 = a[2].z * a[3].w - a[3].z * a[2].w;
  return T(s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0);
}

}  // namespace metal

#define METALLOID_NAME_MATRIX(T, C, R)       \
  typedef metal::matrix<T, C, R> T##C##x##R; \
  namespace metal {                          \
  using ::T##C##x##R;                        \
  }
#define METALLOID_NAME_MATRICES(T) \
  METALLOID_NAME_MATRIX(T, 2, 2)   \
  METALLOID_NAME_MATRIX(T, 2, 3)   \
  METALLOID_NAME_MATRIX(T, 2, 4)   \
  METALLOID_NAME_MATRIX(T, 3, 2)   \
  METALLOID_NAME_MATRIX(T, 3, 3)   \
  METALLOID_NAME_MATRIX(T, 3, 4)   \
  METALLOID_NAME_MATRIX(T, 4, 2)   \
  METALLOID_NAME_MATRIX(T, 4, 3)   \
  METALLOID_NAME_MATRIX(T, 4, 4)
METALLOID_NAME_MATRICES(float)
METALLOID_NAME_MATRICES(half)
METALLOID_NAME_MATRICES(bfloat)
#undef METALLOID_NAME_MATRIX
#undef METALLOID_NAME_MATRICES

#endif
