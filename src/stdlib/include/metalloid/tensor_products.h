// The loops of matmul2d: sums of products of fragments in a simdgroup, and of elements in one thread.
#ifndef METALLOID_TENSOR_PRODUCTS_H
#define METALLOID_TENSOR_PRODUCTS_H

#include <metalloid/math.h>
#include <metalloid/tensor_fragments.h>

namespace __metalloid::matmul {

// How a simdgroup goes through its part of the result, Tiles of Halves x Halves fragments: in blocks of `down` x
// `across` fragments, the sums of which stay in registers while it takes `steps` fragments of k at a time. An engine
// computes the products of such a step in one meeting, for which it has some sixty fragments.
template <int TilesDown, int TilesAcross, int Halves>
struct blocking {
  METALLOID_FUNC constexpr explicit blocking(int k) {
    for (int i = 1; i <= TilesDown; ++i) {
      for (int j = 1; j <= TilesAcross; ++j) {
        const int high = i * Halves, wide = j * Halves;
        if (TilesDown % i != 0 || TilesAcross % j != 0 || high * wide > 32 || high + wide > 20) continue;
        if (high * wide > down * across || (high * wide == down * across && high + wide < down + across)) {
          down = high;
          across = wide;
        }
      }
    }
    // A fixed k is taken in equal steps.
    const int fragments = (k + 7) / 8;
    for (int count = 2; count <= 8; ++count) {
      if (fragments % count == 0 && count * down * across <= 64 && down * across + count * (down + across) <= 56) {
        steps = count;
      }
    }
  }
  int down = 0, across = 0, steps = 1;
};

// One fragment after the other along k: each sum is a chain of fused products in the order of k.
template <bool Relaxed, int Down, int Across, int Steps, typename A, typename B>
METALLOID_FUNC void add_products(const thread pair<A>* left, const thread pair<B>* right, thread pair<float>* sums) {
#pragma unroll
  for (int step = 0; step < Steps; ++step) {
#pragma unroll
    for (int i = 0; i < Down * Across; ++i) {
      sums[i] = pair<float>(
          __metalloid::matrices::product<Relaxed>(left[i / Across * Steps + step].__native,
                                                  right[step * Across + i % Across].__native, sums[i].__native),
          native_tag());
    }
  }
}

// The products of one block of a simdgroup's part, along k from `begin` to `end`.
template <typename Layout, int K, bool TransposeLeft, bool TransposeRight, bool Relaxed>
struct simdgroup_products {
  static constexpr constant auto shape = blocking<Layout::tiles_down(), Layout::tiles_across(), Layout::halves()>(K);
  static constexpr constant int down = shape.down, across = shape.across, steps = shape.steps;

  template <typename Tensor>
  METALLOID_FUNC static auto left_of(const Tensor& tensor, int depth) {
    if constexpr (is_cooperative_v<Tensor>) {
      return &tensor;
    } else {
      using T = typename factor<typename Tensor::value_type>::type;
      return memory_matrix<T, Tensor, TransposeLeft>(tensor, Layout::rows(), depth);
    }
  }
  template <typename Tensor>
  METALLOID_FUNC static auto right_of(const Tensor& tensor, int depth) {
    if constexpr (is_cooperative_v<Tensor>) {
      return &tensor;
    } else {
      using T = typename factor<typename Tensor::value_type>::type;
      return memory_matrix<T, Tensor, TransposeRight>(tensor, depth, Layout::columns());
    }
  }

  // Where the block's fragments begin in the result.
  METALLOID_FUNC static int row(int block_down) { return Layout::first_row() + block_down * 8; }
  METALLOID_FUNC static int column(int block_across, int i) {
    const int at = block_across + i;
    return Layout::first_column() + at / Layout::halves() * Layout::tile_size() + Layout::lane_column() +
           at % Layout::halves() * 2;
  }

  template <typename Left, typename Right>
  METALLOID_FUNC static void step(const Left& left, const Right& right, int block_down, int block_across, int at,
                                  thread pair<float>* sums) {
    using A = typename operand_type<Left>::type;
    using B = typename operand_type<Right>::type;
    pair<A> rows[down * steps];
    pair<B> columns[steps * across];
    if constexpr (is_held<Left>) {
      left_fragments<TransposeLeft, down, steps>(*left, block_down, at / 8, rows);
    } else {
      const int lane_column = int(fragment_column(uint(simd_lane())));
      left.template load<down, steps>(
          left.contains(row(block_down) + down * 8, at + steps * 8), row(block_down) + Layout::lane_row(),
          [=](int i) { return at + i * 8 + lane_column; }, rows);
    }
    if constexpr (is_held<Right>) {
      right_fragments<TransposeRight, steps, across>(*right, at / 8, block_across, columns);
    } else {
      right.template load<steps, across>(
          right.contains(at + steps * 8, Layout::first_column() + (block_across + across) * 8), at + Layout::lane_row(),
          [=](int i) { return column(block_across, i); }, columns);
    }
    add_products<Relaxed, down, across, steps>(rows, columns, sums);
  }

  template <typename Left, typename Right>
  METALLOID_FUNC static void run(const Left& left, const Right& right, int block_down, int block_across, int begin,
                                 int end, thread pair<float>* sums) {
    if constexpr (is_held<Left> || is_held<Right>) {
      // Numbers of elements in registers have to become known.
#pragma unroll
      for (int at = begin; at < end; at += steps * 8) step(left, right, block_down, block_across, at, sums);
    } else {
#pragma clang loop unroll(disable)
      for (int at = begin; at < end; at += steps * 8) step(left, right, block_down, block_across, at, sums);
    }
  }

  // The block's elements of a destination.
  template <typename Sum, typename Destination>
  METALLOID_FUNC static void get(const Destination& destination, int block_down, int block_across,
                                 thread pair<Sum>* sums) {
    if constexpr (is_cooperative_v<Destination>) {
#pragma unroll
      for (int i = 0; i < down * across; ++i) {
        const int first = Layout::fragment(block_down + i / across, block_across + i % across);
        sums[i] = pair<Sum>(Sum(destination[first]), Sum(destination[first + 1]));
      }
    } else {
      const memory_matrix<Sum, Destination, false> matrix(destination, Layout::rows(), Layout::columns());
      matrix.template load<down, across>(
          contains(matrix, block_down, block_across), row(block_down) + Layout::lane_row(),
          [=](int i) { return column(block_across, i); }, sums);
    }
  }
  template <typename Sum, typename Destination>
  METALLOID_FUNC static void set(thread Destination& destination, int block_down, int block_across,
                                 const thread pair<Sum>* sums) {
    if constexpr (is_cooperative_v<Destination>) {
      using Value = typename Destination::value_type;
#pragma unroll
      for (int i = 0; i < down * across; ++i) {
        const int first = Layout::fragment(block_down + i / across, block_across + i % across);
        destination[first] = Value(sums[i].x);
        destination[first + 1] = Value(sums[i].y);
      }
    } else {
      const memory_matrix<Sum, Destination, false> matrix(destination, Layout::rows(), Layout::columns());
      matrix.template store<down, across>(
          contains(matrix, block_down, block_across), row(block_down) + Layout::lane_row(),
          [=](int i) { return column(block_across, i); }, sums);
    }
  }

 private:
  template <typename Matrix>
  METALLOID_FUNC static bool contains(const Matrix& matrix, int block_down, int block_across) {
    return matrix.contains(row(block_down) + down * 8, Layout::first_column() + (block_across + across) * 8);
  }
  template <typename Operand>
  static constexpr constant bool is_held = metal::is_pointer_v<Operand>;
  template <typename Operand>
  struct operand_type {
    using type = typename Operand::type;
  };
  template <typename Cooperative>
  struct operand_type<const Cooperative*> {
    using type = typename factor<typename Cooperative::value_type>::type;
  };
};

METALLOID_FUNC float multiply_add(float a, float b, float c) { return metal::fma(a, b, c); }
METALLOID_FUNC int multiply_add(int a, int b, int c) { return int(uint(a) * uint(b) + uint(c)); }

// By one thread: a row of the right operand at a time, multiplied by an element each of the left one.
template <typename Layout, typename Sum, typename Left, typename Right>
METALLOID_FUNC void add_products_in_thread(const Left& left, const Right& right, int depth, thread Sum* sums) {
  constexpr int m = Layout::rows(), n = Layout::columns();
  const bool left_inside = left.contains(m, depth), right_inside = right.contains(depth, n);
  for (int k = 0; k < depth; ++k) {
    Sum row[n];
    for (int j = 0; j < n; ++j) row[j] = right_inside ? right.at(k, j) : right.get(k, j);
    for (int i = 0; i < m; ++i) {
      const Sum factor = left_inside ? left.at(i, k) : left.get(i, k);
      for (int j = 0; j < n; ++j) sums[i * n + j] = multiply_add(factor, row[j], sums[i * n + j]);
    }
  }
}

}  // namespace __metalloid::matmul

#endif
