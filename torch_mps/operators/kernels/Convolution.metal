// Convolutions as products with a matrix that is gathered on the way: those that do not go through memory in rows
// (ConvolutionProduct.metal).
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;

// result[row, column] = sum over depth of matrix[row, depth] * gathered[depth, column]. Columns and depth are indices of
// four axes, of which the last three are places in space: a column and a depth together point at
// (start + column * column_steps + depth * depth_steps) / divisors, and read 0 if that is not inside or not whole.
struct ConvolutionParams {
  long group_matrix, group_gathered, group_result, group_bias;  // strides from group to group
  long matrix_row, matrix_depth[4];
  long gathered_column, gathered_depth, gathered[3];
  long result_row, result_column[4];
  long bias_row;
  int rows, columns, depth;
  int column_sizes[4], depth_sizes[4], gathered_sizes[3];
  int column_steps[3], depth_steps[3], start[3], divisors[3];
  int has_bias;
};

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_inline>;

// An index of columns or of depth, taken apart.
struct Place {
  long matrix, gathered, result;
  int space[3];
};

inline Place column_place(constant ConvolutionParams& params, int index) {
  int axes[4];
  for (int axis = 3; axis > 0; --axis) {
    axes[axis] = index % params.column_sizes[axis];
    index /= params.column_sizes[axis];
  }
  axes[0] = index;
  Place place{0, index * params.gathered_column, index * params.result_column[0], {0, 0, 0}};
  for (int axis = 0; axis < 3; ++axis) {
    place.space[axis] = params.start[axis] + axes[axis + 1] * params.column_steps[axis];
    place.result += axes[axis + 1] * params.result_column[axis + 1];
  }
  return place;
}

inline Place depth_place(constant ConvolutionParams& params, int index) {
  int axes[4];
  for (int axis = 3; axis > 0; --axis) {
    axes[axis] = index % params.depth_sizes[axis];
    index /= params.depth_sizes[axis];
  }
  Place place{index * params.matrix_depth[0], index * params.gathered_depth, 0, {0, 0, 0}};
  for (int axis = 0; axis < 3; ++axis) {
    place.space[axis] = axes[axis + 1] * params.depth_steps[axis];
    place.matrix += axes[axis + 1] * params.matrix_depth[axis + 1];
  }
  return place;
}

// Whether the place is inside, and where it is.
inline bool gathers(constant ConvolutionParams& params, thread const Place& column, threadgroup const Place& along,
                    thread long& offset) {
  offset = column.gathered + along.gathered;
  for (int axis = 0; axis < 3; ++axis) {
    int at = column.space[axis] + along.space[axis];
    if (params.divisors[axis] != 1) {
      if (at % params.divisors[axis] != 0) return false;
      at /= params.divisors[axis];
    }
    if (at < 0 || at >= params.gathered_sizes[axis]) return false;
    offset += at * params.gathered[axis];
  }
  return true;
}

// Products of tiles in threadgroup memory, by four SIMD groups.
constant constexpr int tensor_rows = 64;
constant constexpr int tensor_columns = 32;
constant constexpr int tensor_depth = 32;

// Whether a row of the matrix lies in memory as its depth is counted.
inline bool is_linear(constant ConvolutionParams& params) {
  long step = 1;
  for (int axis = 3; axis >= 0; --axis) {
    if (params.depth_sizes[axis] != 1 && params.matrix_depth[axis] != step) return false;
    step *= params.depth_sizes[axis];
  }
  return true;
}

template <typename T>
kernel void convolution_tensors(device T* result [[buffer(0)]], device T* matrix [[buffer(1)]],
                                device const T* gathered [[buffer(2)]], device const T* bias [[buffer(3)]],
                                constant ConvolutionParams& params [[buffer(4)]],
                                uint3 group [[threadgroup_position_in_grid]],
                                uint simd_group [[simdgroup_index_in_threadgroup]],
                                uint lane [[thread_index_in_simdgroup]]) {
  using Tile = tensor<threadgroup float, dextents<int, 2>, tensor_inline>;
  threadgroup float left[tensor_rows * tensor_depth], right[tensor_depth * tensor_columns];
  threadgroup float sums[tensor_rows * tensor_columns];
  threadgroup Place places[tensor_depth];
  constexpr auto descriptor = matmul2d_descriptor(tensor_rows, tensor_columns, tensor_depth, false, false, true,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<4>> operation;
  Tile left_tile(left, dextents<int, 2>(tensor_depth, tensor_rows));
  Tile right_tile(right, dextents<int, 2>(tensor_columns, tensor_depth));
  Tile all_sums(sums, dextents<int, 2>(tensor_columns, tensor_rows));

  const int first_row = group.y * tensor_rows, column = group.x * tensor_columns + lane;
  const bool has_column = column < params.columns, is_in_order = is_linear(params);
  matrix += group.z * params.group_matrix + first_row * params.matrix_row;
  gathered += group.z * params.group_gathered;
  bias += group.z * params.group_bias;
  const int rows = min(tensor_rows, params.rows - first_row);
  const Place own = column_place(params, has_column ? column : 0);
  for (int row = simd_group; row < tensor_rows; row += 4) {
    const bool has_bias = params.has_bias && row < rows;
    sums[row * tensor_columns + lane] = has_bias ? float(bias[(first_row + row) * params.bias_row]) : 0.0f;
  }
  for (int begin = 0; begin < params.depth; begin += tensor_depth) {
    const int depth = min(tensor_depth, params.depth - begin);
    if (simd_group == 0 && int(lane) < depth) places[lane] = depth_place(params, begin + int(lane));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (!is_in_order) {
      for (int row = simd_group; row < tensor_rows; row += 4) {
        const bool is_there = row < rows && int(lane) < depth;
        left[row * tensor_depth + lane] = is_there ? float(matrix[row * params.matrix_row + places[lane].matrix]) : 0.0f;
      }
    }
    for (int along = simd_group; along < tensor_depth; along += 4) {
      long offset;
      const bool is_there = has_column && along < depth && gathers(params, own, places[along], offset);
      right[along * tensor_columns + lane] = is_there ? float(gathered[offset]) : 0.0f;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (is_in_order) {
      const array<long, 2> steps = {1, params.matrix_row};
      Matrix<T> in_order(matrix + begin, dextents<int, 2>(depth, rows), steps);
      operation.run(in_order, right_tile, all_sums);
    } else {
      operation.run(left_tile, right_tile, all_sums);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (!has_column) return;
  result += group.z * params.group_result + own.result;
  for (int row = simd_group; row < rows; row += 4) {
    result[(first_row + row) * params.result_row] = T(sums[row * tensor_columns + lane]);
  }
}

// A thread for each element of the result: few rows (depthwise) or a short sum.
template <typename T>
kernel void convolution_each(device T* result [[buffer(0)]], device const T* matrix [[buffer(1)]],
                             device const T* gathered [[buffer(2)]], device const T* bias [[buffer(3)]],
                             constant ConvolutionParams& params [[buffer(4)]],
                             uint3 position [[thread_position_in_grid]]) {
  const Place column = column_place(params, position.x);
  matrix += position.z * params.group_matrix + position.y * params.matrix_row;
  gathered += position.z * params.group_gathered + column.gathered;
  float sum = 0;
  for (int z = 0; z < params.depth_sizes[1]; ++z) {
    int d = column.space[0] + z * params.depth_steps[0];
    if (d % params.divisors[0] != 0) continue;
    d /= params.divisors[0];
    if (d < 0 || d >= params.gathered_sizes[0]) continue;
    for (int y = 0; y < params.depth_sizes[2]; ++y) {
      int h = column.space[1] + y * params.depth_steps[1];
      if (h % params.divisors[1] != 0) continue;
      h /= params.divisors[1];
      if (h < 0 || h >= params.gathered_sizes[1]) continue;
      for (int x = 0; x < params.depth_sizes[3]; ++x) {
        int w = column.space[2] + x * params.depth_steps[2];
        if (w % params.divisors[2] != 0) continue;
        w /= params.divisors[2];
        if (w < 0 || w >= params.gathered_sizes[2]) continue;
        device const T* left =
            matrix + z * params.matrix_depth[1] + y * params.matrix_depth[2] + x * params.matrix_depth[3];
        device const T* right = gathered + d * params.gathered[0] + h * params.gathered[1] + w * params.gathered[2];
        for (int channel = 0; channel < params.depth_sizes[0]; ++channel) {
          sum += float(left[channel * params.matrix_depth[0]]) * float(right[channel * params.gathered_depth]);
        }
      }
    }
  }
  if (params.has_bias) sum += float(bias[position.z * params.group_bias + position.y * params.bias_row]);
  result[position.z * params.group_result + position.y * params.result_row + column.result] = T(sum);
}

#define CONVOLUTION(T)                                                                                                \
  template [[host_name("convolution_tensors_" #T)]] kernel void convolution_tensors<T>(                              \
      device T*, device T*, device const T*, device const T*, constant ConvolutionParams&, uint3, uint, uint);       \
  template [[host_name("convolution_each_" #T)]] kernel void convolution_each<T>(                                    \
      device T*, device const T*, device const T*, device const T*, constant ConvolutionParams&, uint3);
CONVOLUTION(float) CONVOLUTION(half) CONVOLUTION(bfloat)
