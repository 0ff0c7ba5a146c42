// Simdgroup matrices: which lane holds what, loads and stores with all arguments, products.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// Lane l of x, elements 2 l and 2 l + 1: the row-major index of what it holds.
// RUN: --kernel layout --threads 32 --group 32 --arg x=u32[64]=zeros
// EXPECT x: 0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27 4 5 6 7 12 13 14 15 20 21 22 23 28 29 30 31 32 33 34 35 40 41 42 43 48 49 50 51 56 57 58 59 36 37 38 39 44 45 46 47 52 53 54 55 60 61 62 63
kernel void layout(device uint* x, uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float numbers[64];
  numbers[lane] = lane;
  numbers[lane + 32] = lane + 32;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m;
  simdgroup_load(m, numbers);
  x[2 * lane] = uint(m.thread_elements()[0]);
  x[2 * lane + 1] = uint(reinterpret_cast<thread vec<float, 2>&>(m.thread_elements()).y);
}

// The elements by way of the address that some kernels expect.
// RUN: --kernel elements_by_address --threads 32 --group 32 --arg x=f32[2,32]=zeros
// EXPECT x: 3 x 63 4
kernel void elements_by_address(device float* x, uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m(0.0f);
  *(m.thread_elements()) = float2(3.0f);
  if (lane == 31) (*(m.thread_elements()))[1] += 1.0f;
  const float2 elements = *m.thread_elements();
  x[2 * lane] = elements.x;
  x[2 * lane + 1] = elements.y;
}

// A diagonal matrix and a filled one, by their elements in the lanes' order.
// RUN: --kernel constructors --threads 32 --group 32 --arg x=f32[8,8]=zeros
// EXPECT x: 4.5 2.5 x 8 4.5 2.5 x 8 4.5 2.5 x 8 4.5 2.5 x 8 4.5 2.5 x 8 4.5 2.5 x 8 4.5 2.5 x 8 4.5
kernel void constructors(device float* x) {
  simdgroup_matrix<half, 8, 8> diagonal(2.0h), half_product;
  simdgroup_bfloat8x8 filled = make_filled_simdgroup_matrix<bfloat, 8, 8>(bfloat(2.5f));
  simdgroup_float8x8 sum = make_diagonal_simdgroup_matrix<float, 8>(2.0f), product;
  simdgroup_multiply(half_product, diagonal, simdgroup_half8x8(1.0h));
  // 2.5 everywhere, and 1 * 2 more on the diagonal.
  simdgroup_multiply_accumulate(product, simdgroup_float8x8(1.0f), filled, half_product);
  simdgroup_store(product, x);
}

// Origin (columns, rows), row stride and transposition of loads and stores, in every address space that has them.
// RUN: --kernel memory --threads 32 --group 32 --arg a=f32[10,12]=arange --arg b=f32[8,8]=arange --arg x=f32[4]=zeros
// EXPECT x: 38 50 27 45
kernel void memory(device const float* a, constant float* b, device float* x, uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float tile[20 * 10];
  for (uint i = lane; i < 200; i += 32) tile[i] = 0;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 m, n;
  simdgroup_load(m, a, 12, ulong2(1, 2));        // m(i, j) = 12 (i + 2) + j + 1
  simdgroup_load(n, b, 8, 0, true);              // n(i, j) = 8 j + i
  simdgroup_store(m, tile, 20, ulong2(5, 1));    // tile(i + 1, j + 5)
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) {
    x[0] = tile[20 * 2 + 5 + 1];  // m(1, 1)
    x[1] = tile[20 * 3 + 5 + 1];  // m(2, 1)
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_store(n, tile + 3, 20, ulong2(0, 1), true);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) {
    x[2] = tile[20 * 4 + 3 + 3];  // row 3 and column 3 of n, transposed once more
    x[3] = tile[20 * 6 + 3 + 5];
  }
}

// Products that follow each other into the same matrix, by way of a loop and of the operator.
// RUN: --kernel chain --threads 64 --group 64 --arg x=f32[2]=zeros
// EXPECT x: 3 96
kernel void chain(device float* x, uint i [[thread_position_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const simdgroup_float8x8 one(1.0f);
  simdgroup_float8x8 sum(0.0f);
  if (simdgroup == 0) {
    for (int k = 0; k < 3; ++k) simdgroup_multiply_accumulate(sum, one, one, sum);
  } else {
    sum = simdgroup_float8x8(4.0f) * simdgroup_float8x8(3.0f) * simdgroup_float8x8(8.0f);
  }
  if (i % 32 == 0) x[simdgroup] = sum.thread_elements()[0];
}

// A half accumulator: sums in float, rounded once. 2048 + 8 ones is exact; one by one in half it stays 2048.
// RUN: --kernel half_sum --threads 32 --group 32 --arg x=f32[2]=zeros
// EXPECT x: 2056 2056
kernel void half_sum(device float* x) {
  simdgroup_half8x8 ones = make_filled_simdgroup_matrix<half, 8, 8>(1.0h);
  simdgroup_half8x8 sum = make_filled_simdgroup_matrix<half, 8, 8>(2048.0h);
  simdgroup_multiply_accumulate(sum, ones, ones, sum);
  x[0] = (*(&sum.thread_elements()))[0];
  x[1] = sum.thread_elements().y;
}

// Lanes that the threadgroup lacks count as zeros: rows 0 to 3 are in lanes 0 to 15.
// RUN: --kernel partial --threads 16 --group 16 --arg x=f32[1]=zeros
// EXPECT x: 4
kernel void partial(device float* x, uint i [[thread_position_in_threadgroup]]) {
  simdgroup_float8x8 ones = make_filled_simdgroup_matrix<float, 8, 8>(1.0f), product;
  simdgroup_multiply(product, ones, ones);
  if (i == 0) x[0] = product.thread_elements()[0];
}

// The internal product, by way of which some kernels keep their own matrix type.
template <typename T>
struct Fragment {
  vec<T, 64> storage;
  METAL_FUNC thread vec<T, 2>* elements() thread { return reinterpret_cast<thread vec<T, 2>*>(&storage); }
};

// RUN: --kernel internal_product --threads 32 --group 32 --arg x=f32[2]=zeros
// EXPECT x: 24.5 24.5
kernel void internal_product(device float* x, uint lane [[thread_index_in_simdgroup]]) {
  Fragment<half> a;
  Fragment<float> b, sum;
  *(a.elements()) = vec<half, 2>(1.5h);
  *(b.elements()) = float2(2.0f);
  *(sum.elements()) = float2(0.5f);
  sum.storage = __metal_simdgroup_matrix_8x8_multiply_accumulate(a.storage, b.storage, sum.storage, sum.storage);
  if (lane == 0) {
    x[0] = sum.elements()->x;
    x[1] = sum.elements()->y;
  }
}
