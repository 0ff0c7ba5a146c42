// Simdgroup matrices by themselves: an 8 x 8 matrix whose 64 elements are spread over the 32 lanes, two in each. One
// simdgroup per 8 x 8 block, sizes that are multiples of 8. simdgroup_matmul.metal builds a fast product of any size.
//
//   metalloid run examples/kernels/simdgroup_fragments.metal --kernel layout --threads 32 --group 32
//       --arg positions=u32[32,2]=zeros --arg numbers=f32[8,8]=arange
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// Which lane holds which elements: positions[lane] are the row-major indices of its two.
kernel void layout(device uint* positions [[buffer(0)]],
                   device const float* numbers [[buffer(1)]],  // 0, 1, ... 63
                   uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 matrix;
  simdgroup_load(matrix, numbers);
  positions[2 * lane] = uint(matrix.thread_elements()[0]);
  positions[2 * lane + 1] = uint(matrix.thread_elements()[1]);
}

// out = transpose of in, block by block. Loads and stores take, after the matrix and the memory: how many elements
// there are from one row to the next, where in memory the block begins (column first, then row), and whether to
// transpose.
kernel void transpose_on_load(device float* out [[buffer(0)]],       // columns x rows
                              device const float* in [[buffer(1)]],  // rows x columns
                              constant uint& rows [[buffer(2)]],
                              constant uint& columns [[buffer(3)]],
                              uint2 block [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 matrix;
  simdgroup_load(matrix, in, columns, ulong2(8 * block.x, 8 * block.y), true);
  simdgroup_store(matrix, out, rows, ulong2(8 * block.y, 8 * block.x), false);
}

// The same, with the stores doing the work.
kernel void transpose_on_store(device float* out [[buffer(0)]],
                               device const float* in [[buffer(1)]],
                               constant uint& rows [[buffer(2)]],
                               constant uint& columns [[buffer(3)]],
                               uint2 block [[threadgroup_position_in_grid]]) {
  simdgroup_float8x8 matrix;
  simdgroup_load(matrix, in, columns, ulong2(8 * block.x, 8 * block.y), false);
  simdgroup_store(matrix, out, rows, ulong2(8 * block.y, 8 * block.x), true);
}

// A linear layer, out = max(x weight^T + bias, 0), with weight as models keep it, (outputs, inputs): its blocks are
// transposed as they are loaded. Bias and maximum are applied to the elements where they are, in the lanes.
template <typename T>
[[kernel]] void linear_relu(device float* out [[buffer(0)]],     // rows x outputs
                            device const T* x [[buffer(1)]],       // rows x inputs
                            device const T* weight [[buffer(2)]],  // outputs x inputs
                            device const float* bias [[buffer(3)]],
                            constant uint& inputs [[buffer(4)]],
                            constant uint& outputs [[buffer(5)]],
                            uint2 block [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]]) {
  const uint row = 8 * block.y, column = 8 * block.x;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (uint k = 0; k < inputs; k += 8) {
    simdgroup_matrix<T, 8, 8> left, right;
    simdgroup_load(left, x, inputs, ulong2(k, row));
    simdgroup_load(right, weight, inputs, ulong2(k, column), true);
    simdgroup_multiply_accumulate(sum, left, right, sum);
  }
  // A lane holds columns `first` and `first + 1` of one row.
  const uint first = (lane / 4 & 2) * 2 + lane % 2 * 2;
  thread auto& elements = sum.thread_elements();
  elements[0] = max(elements[0] + bias[column + first], 0.0f);
  elements[1] = max(elements[1] + bias[column + first + 1], 0.0f);
  simdgroup_store(sum, out, outputs, ulong2(column, row));
}

template [[host_name("linear_relu_float")]] [[kernel]] decltype(linear_relu<float>) linear_relu<float>;
template [[host_name("linear_relu_half")]] [[kernel]] decltype(linear_relu<half>) linear_relu<half>;
