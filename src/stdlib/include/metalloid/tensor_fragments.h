// Operands of matmul2d as 8 x 8 fragments: pairs of elements in the lanes of a simdgroup, as simdgroup_matrix has them.
#ifndef METALLOID_TENSOR_FRAGMENTS_H
#define METALLOID_TENSOR_FRAGMENTS_H

#include <metalloid/cooperative_tensor.h>
#include <metalloid/integer.h>

// The engines' operations; bfloats are the ushorts.
namespace __metalloid::matrices {
// The same elements elsewhere: of pairs of columns x0 x1 x2 x3 and y0 y1 y2 y3, zip_low is x0 y0 x1 y1, zip_high
// x2 y2 x3 y3, unzip_even x0 x2 y0 y2, unzip_odd x1 x3 y1 y3.
#define METALLOID_REARRANGE(type, name)                                                            \
  __attribute__((convergent, const)) native_t<type, 2> transpose(native_t<type, 2>) __asm(         \
      "metalloid.simdgroup_matrix.transpose." #name);                                              \
  __attribute__((convergent, const)) native_t<type, 2> zip_low(                                    \
      native_t<type, 2>, native_t<type, 2>) __asm("metalloid.simdgroup_matrix.zip_low." #name);    \
  __attribute__((convergent, const)) native_t<type, 2> zip_high(                                   \
      native_t<type, 2>, native_t<type, 2>) __asm("metalloid.simdgroup_matrix.zip_high." #name);   \
  __attribute__((convergent, const)) native_t<type, 2> unzip_even(                                 \
      native_t<type, 2>, native_t<type, 2>) __asm("metalloid.simdgroup_matrix.unzip_even." #name); \
  __attribute__((convergent, const)) native_t<type, 2> unzip_odd(                                  \
      native_t<type, 2>, native_t<type, 2>) __asm("metalloid.simdgroup_matrix.unzip_odd." #name);
METALLOID_REARRANGE(half, f16)
METALLOID_REARRANGE(ushort, bf16)
METALLOID_REARRANGE(float, f32)
#undef METALLOID_REARRANGE
}  // namespace __metalloid::matrices

namespace __metalloid::matmul {

template <typename T>
struct is_cooperative : metal::false_type {};
template <typename E, typename X, typename L>
struct is_cooperative<metal::cooperative_tensor<E, X, L>> : metal::true_type {};
template <typename T>
inline constexpr bool is_cooperative_v = is_cooperative<metal::remove_cv_t<metal::remove_addrspace_t<T>>>::value;

// What elements are multiplied as: float holds all others that a product takes.
template <typename T>
struct factor {
  using type = float;
};
template <>
struct factor<half> {
  using type = half;
};
template <>
struct factor<bfloat> {
  using type = bfloat;
};

template <typename T>
using pair = metal::vec<T, 2>;

#define METALLOID_FRAGMENT_OPERATION(NAME)                                             \
  template <typename T>                                                                \
  METALLOID_FUNC pair<T> NAME(pair<T> x, pair<T> y) {                                  \
    return pair<T>(__metalloid::matrices::NAME(x.__native, y.__native), native_tag()); \
  }
METALLOID_FRAGMENT_OPERATION(zip_low)
METALLOID_FRAGMENT_OPERATION(zip_high)
METALLOID_FRAGMENT_OPERATION(unzip_even)
METALLOID_FRAGMENT_OPERATION(unzip_odd)
#undef METALLOID_FRAGMENT_OPERATION
template <typename T>
METALLOID_FUNC pair<T> transpose(pair<T> x) {
  return pair<T>(__metalloid::matrices::transpose(x.__native), native_tag());
}

// A matrix in memory, or as much of it as a product takes. Rows and columns count as in the product.
template <typename T, typename Tensor, bool Transposed>
class memory_matrix {
 public:
  using type = T;
  METALLOID_FUNC memory_matrix(const Tensor& tensor, int rows, int columns)
      : tensor_(tensor), rows_(least(rows, Transposed ? 0 : 1)), columns_(least(columns, Transposed ? 1 : 0)) {}

  METALLOID_FUNC bool contains(int rows, int columns) const { return rows <= rows_ && columns <= columns_; }
  METALLOID_FUNC T at(int row, int column) const { return T(tensor_.__metalloid_at(place(row, column))); }
  // Zero outside.
  METALLOID_FUNC T get(int row, int column) const { return row < rows_ && column < columns_ ? at(row, column) : T(0); }
  METALLOID_FUNC void set(int row, int column, T value) const {
    if (row < rows_ && column < columns_) tensor_.__metalloid_at(place(row, column)) = Value(value);
  }

  // Fills Down * Across pairs. Rows are 8 apart from the lane's, `row`, on; column(i) is where the i-th pair begins.
  template <int Down, int Across, typename Column>
  METALLOID_FUNC void load(bool inside, int row, Column column, thread pair<T>* pairs) const {
    if (inside) {
#pragma unroll
      for (int i = 0; i < Down * Across; ++i) {
        const int at_row = row + i / Across * 8, at_column = column(i % Across);
        pairs[i] = pair<T>(at(at_row, at_column), at(at_row, at_column + 1));
      }
      return;
    }
    // At an edge: a loop beside the pairs, which then can stay in registers.
    pair<T> loaded[Down * Across];
#pragma clang loop unroll(disable)
    for (int i = 0; i < Down * Across; ++i) {
      const int at_row = row + i / Across * 8, at_column = column(i % Across);
      loaded[i] = pair<T>(get(at_row, at_column), get(at_row, at_column + 1));
    }
#pragma unroll
    for (int i = 0; i < Down * Across; ++i) pairs[i] = loaded[i];
  }
  template <int Down, int Across, typename Column>
  METALLOID_FUNC void store(bool inside, int row, Column column, const thread pair<T>* pairs) const {
    if (inside) {
#pragma unroll
      for (int i = 0; i < Down * Across; ++i) {
        const long first = place(row + i / Across * 8, column(i % Across));
        tensor_.__metalloid_at(first) = Value(pairs[i].x);
        tensor_.__metalloid_at(first + stride(true)) = Value(pairs[i].y);
      }
      return;
    }
    pair<T> stored[Down * Across];
#pragma unroll
    for (int i = 0; i < Down * Across; ++i) stored[i] = pairs[i];
#pragma clang loop unroll(disable)
    for (int i = 0; i < Down * Across; ++i) {
      const int at_row = row + i / Across * 8, at_column = column(i % Across);
      set(at_row, at_column, stored[i].x);
      set(at_row, at_column + 1, stored[i].y);
    }
  }

 private:
  using Value = typename Tensor::value_type;
  METALLOID_FUNC int least(int size, size_t dimension) const {
    return int(metal::min(long(size), tensor_.__metalloid_size(dimension)));
  }
  METALLOID_FUNC long stride(bool across) const { return tensor_.__metalloid_stride(across != Transposed ? 0 : 1); }
  METALLOID_FUNC long place(int row, int column) const { return row * stride(false) + column * stride(true); }

  Tensor tensor_;
  int rows_, columns_;
};

// A fragment of a cooperative tensor in its own layout, zero where the matrix has ended.
template <typename T, typename Cooperative>
METALLOID_FUNC pair<T> held(const Cooperative& tensor, int down, int across) {
  using Layout = typename Cooperative::layout_type;
  const int first = Layout::fragment(down, across);
  if constexpr (Layout::rows() % Layout::tile_size() == 0 && Layout::columns() % Layout::tile_size() == 0) {
    return pair<T>(T(tensor[first]), T(tensor[first + 1]));
  } else {
    return pair<T>(tensor.is_valid_element(first) ? T(tensor[first]) : T(0.0f),
                   tensor.is_valid_element(first + 1) ? T(tensor[first + 1]) : T(0.0f));
  }
}
// The same with columns in their natural order, for `across` counts 8 of them.
template <typename T, typename Cooperative>
METALLOID_FUNC pair<T> natural(const Cooperative& tensor, int down, int across) {
  if constexpr (Cooperative::layout_type::halves() == 1) {
    return held<T>(tensor, down, across);
  } else {
    const pair<T> even = held<T>(tensor, down, across / 2 * 2), odd = held<T>(tensor, down, across / 2 * 2 + 1);
    return across % 2 == 0 ? zip_low(even, odd) : zip_high(even, odd);
  }
}

// The left operand's fragments: `Down` from the result's fragment `down` on, `Steps` along k from `step` on.
template <bool Transposed, int Down, int Steps, typename T, typename Cooperative>
METALLOID_FUNC void left_fragments(const Cooperative& tensor, int down, int step, thread pair<T>* pairs) {
#pragma unroll
  for (int i = 0; i < Down * Steps; ++i) {
    const int row = down + i / Steps, k = step + i % Steps;
    pairs[i] = Transposed ? transpose(natural<T>(tensor, k, row)) : natural<T>(tensor, row, k);
  }
}

// The right operand's: `Steps` along k and `Across` of the result. Their columns are in the order of the result's.
template <bool Transposed, int Steps, int Across, typename T, typename Cooperative>
METALLOID_FUNC void right_fragments(const Cooperative& tensor, int step, int across, thread pair<T>* pairs) {
  using Layout = typename Cooperative::layout_type;
  if constexpr (!Transposed) {
#pragma unroll
    for (int i = 0; i < Steps * Across; ++i) pairs[i] = held<T>(tensor, step + i / Across, across + i % Across);
  } else {
#pragma unroll
    for (int i = 0; i < Steps * Across; ++i) {
      pairs[i] = transpose(natural<T>(tensor, across + i % Across, step + i / Across));
    }
    if constexpr (Layout::halves() == 2) {
#pragma unroll
      for (int i = 0; i < Steps * Across; i += 2) {
        const pair<T> low = pairs[i], high = pairs[i + 1];
        pairs[i] = unzip_even(low, high);
        pairs[i + 1] = unzip_odd(low, high);
      }
    }
  }
}

// The elements of a matrix that another product gave, in the layout of an input of this one.
template <typename Result, typename Source>
METALLOID_FUNC Result rearranged(const Source& source) {
  using To = typename Result::layout_type;
  using From = typename Source::layout_type;
  using Value = typename Result::value_type;
  Result result;
  if constexpr (To::halves() == From::halves()) {
#pragma unroll
    for (int i = 0; i < To::capacity(); ++i) result[i] = Value(source[i]);
  } else {
    // 32 bits of any kind travel as floats do.
    using Carried = metal::conditional_t<metal::is_integral_v<Value>, int, float>;
    auto carried = [&](int down, int across) {
      const int first = From::fragment(down, across);
      return pair<float>(as_type<float>(Carried(source[first])), as_type<float>(Carried(source[first + 1])));
    };
#pragma unroll
    for (int down = 0; down < To::row_slots(); ++down) {
#pragma unroll
      for (int across = 0; across < To::column_slots() / 2; ++across) {
        pair<float> moved;
        if constexpr (To::halves() == 1) {
          const pair<float> even = carried(down, across / 2 * 2), odd = carried(down, across / 2 * 2 + 1);
          moved = across % 2 == 0 ? zip_low(even, odd) : zip_high(even, odd);
        } else {
          const bool other = across / 2 * 2 + 1 < From::column_slots() / 2;
          const pair<float> low = down < From::row_slots() ? carried(down, across / 2 * 2) : pair<float>(0.0f);
          const pair<float> high =
              down < From::row_slots() && other ? carried(down, across / 2 * 2 + 1) : pair<float>(0.0f);
          moved = across % 2 == 0 ? unzip_even(low, high) : unzip_odd(low, high);
        }
        result[To::fragment(down, across)] = Value(as_type<Carried>(moved.x));
        result[To::fragment(down, across) + 1] = Value(as_type<Carried>(moved.y));
      }
    }
  }
  return result;
}

}  // namespace __metalloid::matmul

#endif
