// Convolutions as products with lines of what each place of the weight reads, and sums of few places one by one.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;

// Arrays of three are of the axes of space. A line is of a channel and a place of the weight, and has what each place
// of the result reads there, through all images.
struct PlacesParams {
  long image, channel, space[3], group;  // strides of the gathered elements
  long line;                             // elements of a line, with zeros behind them
  int images, channels;
  int sizes[3];    // of the gathered elements
  int results[3];  // sizes
  int steps[3];
  int taps[3], first_tap[3], tap_step[3];
  int lines, rows;  // of a group, and of a line
  int lines_at_once, rows_at_once;
};

template <typename T>
inline void bring_line(device T* places, device const T* gathered, constant PlacesParams& params, int line, int first,
                       int end, uint lane) {
  const int taps = params.taps[0] * params.taps[1] * params.taps[2];
  const int channel = line / taps, tap = line % taps;
  const int x_tap = params.first_tap[2] + tap % params.taps[2] * params.tap_step[2];
  const int y_tap = params.first_tap[1] + tap / params.taps[2] % params.taps[1] * params.tap_step[1];
  const int z_tap = params.first_tap[0] + tap / params.taps[2] / params.taps[1] * params.tap_step[0];
  gathered += channel * params.channel;
  const int pitch = params.results[2], step = params.steps[2], width = params.sizes[2];
  int y = first % params.results[1], z = first / params.results[1] % params.results[0];
  int image = first / params.results[1] / params.results[0];
  for (int row = first; row < end; ++row) {
    const long begin = long(row) * pitch;
    const int count = int(min(long(pitch), params.line - begin));
    const int h = y * params.steps[1] + y_tap, d = z * params.steps[0] + z_tap;
    device T* to = places + begin;
    if (image >= params.images || h < 0 || h >= params.sizes[1] || d < 0 || d >= params.sizes[0]) {
      for (int x = lane; x < count; x += 32) to[x] = T(0);
    } else {
      device const T* from = gathered + image * params.image + d * params.space[0] + h * params.space[1];
      if (params.space[2] != 1 || step > 2) {
        for (int x = lane; x < count; x += 32) {
          const int w = x * step + x_tap;
          to[x] = w >= 0 && w < width ? from[w * params.space[2]] : T(0);
        }
      } else if (step == 2) {
        for (int x = lane; x < count; x += 32) {
          const int w = 2 * x + x_tap;
          to[x] = w >= 0 && w < width ? from[w] : T(0);
        }
      } else {
        for (int x = lane; x < count; x += 32) {
          const int w = x + x_tap;
          to[x] = w >= 0 && w < width ? from[w] : T(0);
        }
      }
    }
    if (++y == params.results[1]) {
      y = 0;
      if (++z == params.results[0]) {
        z = 0;
        ++image;
      }
    }
  }
}

// A SIMD group brings some rows of some lines.
template <typename T>
kernel void convolution_places(device T* places [[buffer(0)]], device const T* gathered [[buffer(1)]],
                               constant PlacesParams& params [[buffer(2)]],
                               uint3 group [[threadgroup_position_in_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
  const int first_row = int(group.x) * params.rows_at_once, end_row = min(first_row + params.rows_at_once, params.rows);
  const int first = int(group.y) * params.lines_at_once, end = min(first + params.lines_at_once, params.lines);
  gathered += group.z * params.group;
  places += long(group.z) * params.lines * params.line;
  for (int line = first; line < end; ++line) {
    bring_line(places + line * params.line, gathered, params, line, first_row, end_row, lane);
  }
}

// The same of narrow images: a SIMD group has 32 columns of the lines of some channels.
template <typename T>
kernel void convolution_narrow_places(device T* places [[buffer(0)]], device const T* gathered [[buffer(1)]],
                                      constant PlacesParams& params [[buffer(2)]],
                                      uint3 group [[threadgroup_position_in_grid]],
                                      uint lane [[thread_index_in_simdgroup]]) {
  const int taps = params.taps[0] * params.taps[1] * params.taps[2];
  const int first = int(group.y) * params.lines_at_once, end = min(first + params.lines_at_once, params.channels);
  const int column = int(group.x) * 32 + int(lane);
  const int row = column / params.results[2], x = column % params.results[2] * params.steps[2];
  const int y = row % params.results[1] * params.steps[1];
  const int z = row / params.results[1] % params.results[0] * params.steps[0];
  const int image = row / params.results[1] / params.results[0];
  gathered += group.z * params.group;
  places += long(group.z) * params.lines * params.line + column;
  const bool is_column = column < params.line, is_image = image < params.images;
  for (int tap = 0; tap < taps; ++tap) {
    const int w = x + params.first_tap[2] + tap % params.taps[2] * params.tap_step[2];
    const int h = y + params.first_tap[1] + tap / params.taps[2] % params.taps[1] * params.tap_step[1];
    const int d = z + params.first_tap[0] + tap / params.taps[2] / params.taps[1] * params.tap_step[0];
    const bool is_inside = is_image && w >= 0 && w < params.sizes[2] && h >= 0 && h < params.sizes[1] && d >= 0 &&
                           d < params.sizes[0];
    const long from = image * params.image + d * params.space[0] + h * params.space[1] + w * params.space[2];
    for (int channel = first; channel < end; ++channel) {
      const int line = channel * taps + tap;
      const T value = is_inside ? gathered[from + channel * params.channel] : T(0);
      if (is_column) places[line * params.line] = value;
    }
  }
}

// Weights in the order of products: group, row, channel and tap.
struct WeightsParams {
  long group, row, channel, taps[3];
  int rows, channels, sizes[3];  // of taps
};

template <typename T>
kernel void convolution_weights(device T* ordered [[buffer(0)]], device const T* weights [[buffer(1)]],
                                constant WeightsParams& params [[buffer(2)]],
                                uint3 place [[thread_position_in_grid]]) {
  const int taps = params.sizes[0] * params.sizes[1] * params.sizes[2];
  const int channel = place.x / taps, tap = place.x % taps;
  const int z = tap / params.sizes[2] / params.sizes[1], y = tap / params.sizes[2] % params.sizes[1],
            x = tap % params.sizes[2];
  ordered[(long(place.z) * params.rows + place.y) * params.channels * taps + place.x] =
      weights[place.z * params.group + place.y * params.row + channel * params.channel + z * params.taps[0] +
              y * params.taps[1] + x * params.taps[2]];
}

struct ProductParams {
  long line, group_places;
  long matrix_group, matrix_row;
  long result_group, result_row, result_column[4];
  long bias_group, bias_row;
  int rows, columns, depth;
  int sizes[3];  // of the result
  int has_bias;
};

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_inline>;

template <typename T, int Rows, int Columns>
kernel void convolution_product(device T* result [[buffer(0)]], device T* matrix [[buffer(1)]],
                                device T* places [[buffer(2)]], device const T* bias [[buffer(3)]],
                                constant ProductParams& params [[buffer(4)]],
                                uint3 group [[threadgroup_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float sums[Rows * Columns];
  constexpr auto descriptor = matmul2d_descriptor(Rows, Columns, dynamic_length_v<int>, false, false, true,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  tensor<threadgroup float, dextents<int, 2>, tensor_inline> all_sums(sums, dextents<int, 2>(Columns, Rows));
  const int first_row = group.y * Rows, first_column = group.x * Columns;
  const int rows = min(Rows, params.rows - first_row), columns = min(Columns, params.columns - first_column);
  matrix += group.z * params.matrix_group + first_row * params.matrix_row;
  places += group.z * params.group_places + first_column;
  result += group.z * params.result_group + first_row * params.result_row;
  bias += group.z * params.bias_group + first_row * params.bias_row;
  for (int row = 0; row < Rows; ++row) {
    const float begin = params.has_bias && row < rows ? float(bias[row * params.bias_row]) : 0.0f;
    for (int j = lane; j < Columns; j += 32) sums[row * Columns + j] = begin;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  const array<long, 2> left_steps = {1, params.matrix_row}, right_steps = {1, params.line};
  Matrix<T> left(matrix, dextents<int, 2>(params.depth, rows), left_steps);
  Matrix<T> right(places, dextents<int, 2>(columns, params.depth), right_steps);
  operation.run(left, right, all_sums);
  simdgroup_barrier(mem_flags::mem_threadgroup);

  // Row by row of the images.
  for (int column = 0; column < columns;) {
    const int line = (first_column + column) / params.sizes[2], x = (first_column + column) % params.sizes[2];
    const int y = line % params.sizes[1], z = line / params.sizes[1] % params.sizes[0];
    const int image = line / params.sizes[1] / params.sizes[0];
    const int length = min(params.sizes[2] - x, columns - column);
    device T* to = result + image * params.result_column[0] + z * params.result_column[1] +
                   y * params.result_column[2] + x * params.result_column[3];
    threadgroup const float* from = sums + column;
    if (params.result_column[3] == 1) {
      for (int row = 0; row < rows; ++row) {
        for (int j = lane; j < length; j += 32) to[row * params.result_row + j] = T(from[row * Columns + j]);
      }
    } else {
      for (int j = 0; j < length; ++j) {
        for (int row = lane; row < rows; row += 32) {
          to[row * params.result_row + j * params.result_column[3]] = T(from[row * Columns + j]);
        }
      }
    }
    column += length;
  }
}

// Few rows: a SIMD group has four rows of an image's channel.
struct DirectParams {
  long matrix_group, matrix_row, matrix_channel, matrix[3];
  long gathered_group, gathered_image, gathered_channel, gathered[3];
  long result_group, result_row, result_image, result[3];
  long bias_group, bias_row;
  int rows, images, channels;
  int sizes[3], gathered_sizes[3];
  int taps[3], tap_step[3], first_tap[3], steps[3];
  int has_bias;
  int blocks;  // of lines, that a threadgroup has
};

constant constexpr int direct_lines = 4;

// Whether the elements of a row lie side by side, Step apart where they are gathered; 0: anywhere.
template <typename T, int Step>
inline void direct_rows(device T* result, device const T* matrix, device const T* gathered, float begin,
                        constant DirectParams& params, int z, int first_y, uint lane) {
  const int width = params.gathered_sizes[2];
  for (int first_x = 0; first_x < params.sizes[2]; first_x += 32) {
    const int x = first_x + int(lane);
    float sums[direct_lines];
    for (int i = 0; i < direct_lines; ++i) sums[i] = begin;
    const int x_begin = (Step == 0 ? x * params.steps[2] : x * Step) + params.first_tap[2];
    for (int channel = 0; channel < params.channels; ++channel) {
      for (int z_tap = 0; z_tap < params.taps[0]; ++z_tap) {
        const int d = z * params.steps[0] + params.first_tap[0] + z_tap * params.tap_step[0];
        if (d < 0 || d >= params.gathered_sizes[0]) continue;
        for (int y_tap = 0; y_tap < params.taps[1]; ++y_tap) {
          const int h = first_y * params.steps[1] + params.first_tap[1] + y_tap * params.tap_step[1];
          device const T* weights = matrix + channel * params.matrix_channel + z_tap * params.matrix[0] +
                                    y_tap * params.matrix[1];
          device const T* plane = gathered + channel * params.gathered_channel + d * params.gathered[0];
          for (int x_tap = 0; x_tap < params.taps[2]; ++x_tap) {
            const int w = x_begin + x_tap * params.tap_step[2];
            const bool is_inside = x < params.sizes[2] && w >= 0 && w < width;
            const float weight = float(weights[x_tap * params.matrix[2]]);
            for (int i = 0; i < direct_lines; ++i) {
              const int own = h + i * params.steps[1];
              if (own < 0 || own >= params.gathered_sizes[1]) continue;
              device const T* line = plane + own * params.gathered[1];
              const float value = is_inside ? float(line[Step == 0 ? w * params.gathered[2] : w]) : 0.0f;
              sums[i] = fma(weight, value, sums[i]);
            }
          }
        }
      }
    }
    for (int i = 0; i < direct_lines; ++i) {
      if (first_y + i >= params.sizes[1] || x >= params.sizes[2]) continue;
      result[(first_y + i) * params.result[1] + (Step == 0 ? x * params.result[2] : x)] = T(sums[i]);
    }
  }
}

template <typename T, int Step>
kernel void convolution_direct(device T* result [[buffer(0)]], device const T* matrix [[buffer(1)]],
                               device const T* gathered [[buffer(2)]], device const T* bias [[buffer(3)]],
                               constant DirectParams& params [[buffer(4)]],
                               uint3 group [[threadgroup_position_in_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
  const int row = int(group.y) % params.rows, image = int(group.y) / params.rows;
  matrix += group.z * params.matrix_group + row * params.matrix_row;
  gathered += group.z * params.gathered_group + image * params.gathered_image;
  result += group.z * params.result_group + image * params.result_image + row * params.result_row;
  const float begin = params.has_bias ? float(bias[group.z * params.bias_group + row * params.bias_row]) : 0.0f;
  const int in_space = (params.sizes[1] + direct_lines - 1) / direct_lines;
  for (int i = 0; i < params.blocks; ++i) {
    const int block = int(group.x) * params.blocks + i;
    if (block >= in_space * params.sizes[0]) break;
    const int z = block / in_space;
    direct_rows<T, Step>(result + z * params.result[0], matrix, gathered, begin, params, z,
                         block % in_space * direct_lines, lane);
  }
}

// 3 x 3 weights of one channel. A SIMD group goes down 32 columns of what is read, each row of which it loads once, and
// has the 30 between them.
template <typename T>
kernel void convolution_direct_3x3(device T* result [[buffer(0)]], device const T* matrix [[buffer(1)]],
                                   device const T* gathered [[buffer(2)]], device const T* bias [[buffer(3)]],
                                   constant DirectParams& params [[buffer(4)]],
                                   uint3 group [[threadgroup_position_in_grid]],
                                   uint lane [[thread_index_in_simdgroup]]) {
  const int row = int(group.y) % params.rows, image = int(group.y) / params.rows;
  matrix += group.z * params.matrix_group + row * params.matrix_row;
  gathered += group.z * params.gathered_group + image * params.gathered_image;
  result += group.z * params.result_group + image * params.result_image + row * params.result_row;
  const float begin = params.has_bias ? float(bias[group.z * params.bias_group + row * params.bias_row]) : 0.0f;
  float weights[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) weights[i][j] = float(matrix[i * params.matrix[1] + j * params.matrix[2]]);
  }
  const int first_x = int(group.x) * 30 - 1, x = first_x + int(lane), from = x + params.first_tap[2] + 1;
  const bool reads = from >= 0 && from < params.gathered_sizes[2];
  const bool writes = lane > 0 && lane < 31 && x < params.sizes[2];
  // Sums of the next result and of the one behind it.
  float next = 0, behind = 0;
  for (int y = -2; y < params.sizes[1]; ++y) {
    const int h = y + 2 + params.first_tap[1];
    float value = 0;
    if (h >= 0 && h < params.gathered_sizes[1]) value = reads ? float(gathered[h * params.gathered[1] + from]) : 0.0f;
    const float left = simd_shuffle_up(value, 1), right = simd_shuffle_down(value, 1);
    const float sum = fma(weights[2][2], right, fma(weights[2][1], value, fma(weights[2][0], left, next)));
    next = fma(weights[1][2], right, fma(weights[1][1], value, fma(weights[1][0], left, behind)));
    behind = fma(weights[0][2], right, fma(weights[0][1], value, fma(weights[0][0], left, begin)));
    if (y >= 0 && writes) result[y * params.result[1] + x] = T(sum);
  }
}

#define DIRECT(T, Step)                                                                              \
  template [[host_name("convolution_direct_" #Step "_" #T)]] kernel void convolution_direct<T, Step>( \
      device T*, device const T*, device const T*, device const T*, constant DirectParams&, uint3, uint);
#define PRODUCT(T, Rows, Columns)                                                             \
  template [[host_name("convolution_product_" #Rows "_" #Columns "_" #T)]] kernel void        \
  convolution_product<T, Rows, Columns>(device T*, device T*, device T*, device const T*,     \
                                        constant ProductParams&, uint3, uint);
#define CONVOLUTION(T)                                                                                    \
  DIRECT(T, 0) DIRECT(T, 1) DIRECT(T, 2)                                                                  \
  template [[host_name("convolution_direct_3x3_" #T)]] kernel void convolution_direct_3x3<T>(             \
      device T*, device const T*, device const T*, device const T*, constant DirectParams&, uint3, uint); \
  template [[host_name("convolution_weights_" #T)]] kernel void convolution_weights<T>(                   \
      device T*, device const T*, constant WeightsParams&, uint3);
CONVOLUTION(float) CONVOLUTION(half) CONVOLUTION(bfloat)

#define PRODUCTS(T)                                                                                   \
  PRODUCT(T, 16, 128) PRODUCT(T, 32, 128)                                                             \
  PRODUCT(T, 64, 32) PRODUCT(T, 64, 48) PRODUCT(T, 64, 64) PRODUCT(T, 64, 80) PRODUCT(T, 64, 96)      \
  PRODUCT(T, 64, 112) PRODUCT(T, 64, 128)                                                             \
  template [[host_name("convolution_places_" #T)]] kernel void convolution_places<T>(                 \
      device T*, device const T*, constant PlacesParams&, uint3, uint);                               \
  template [[host_name("convolution_narrow_places_" #T)]] kernel void convolution_narrow_places<T>(   \
      device T*, device const T*, constant PlacesParams&, uint3, uint);
PRODUCTS(half) PRODUCTS(bfloat)
