// Convolutions of many places: a SIMD group gathers what a block of results reads in memory of its own, which stays in
// a cache, and multiplies it by the weights: in float with sums in registers, other types as tensors.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;

// Arrays of three are of the axes of space. Columns are places of the result, counted through all images; the depth is
// channels, and for each of them the weight's places, as the matrix has them side by side.
struct BlocksParams {
  long gathered_group, gathered_image, gathered_channel, gathered[3];
  long matrix_group, matrix_row;
  long result_group, result_row, result_image, result[3];
  long bias_group, bias_row;
  int rows, columns, channels;
  int sizes[3], gathered_sizes[3];
  int taps[3], tap_step[3], first_tap[3], steps[3];
  int channels_at_once;
  int block, blocks;     // columns at once
  int parts, part_rows;  // which threadgroups share (sums)
  int pitch, is_narrow;  // of gathered rows (sums); whether rows of an image do not fill a SIMD group
  int has_bias;
};

// Columns of one row of an image, and those of the rows behind it.
struct Part {
  int image, z, y, x;
  int count, done;  // columns, and those before them

  Part(constant BlocksParams& params, int column, int all) : x(column % params.sizes[2]), done(0) {
    const int line = column / params.sizes[2], plane = line / params.sizes[1];
    y = line % params.sizes[1];
    z = plane % params.sizes[0];
    image = plane / params.sizes[0];
    count = min(params.sizes[2] - x, all);
  }
  void go_on(constant BlocksParams& params, int all) {
    done += count;
    x = 0;
    count = min(params.sizes[2], all - done);
    if (++y < params.sizes[1]) return;
    y = 0;
    if (++z < params.sizes[0]) return;
    z = 0;
    ++image;
  }
};

// Elements `step` apart; outside of the `width` ones of a row they are zero.
template <typename T>
inline void bring(device T* to, device const T* row, int x, int step, long stride, int width, int count, uint lane) {
  row += x * stride;
  for (int begin = 0; begin < count; begin += 32, to += 32, row += 32 * step * stride, x += 32 * step) {
    const int w = x + int(lane) * step;
    if (begin + int(lane) >= count) continue;
    const bool is_inside = w >= 0 && w < width;
    if (stride != 1 || step > 2) {
      to[lane] = is_inside ? row[int(lane) * step * stride] : T(0);
    } else if (step == 1) {
      to[lane] = is_inside ? row[lane] : T(0);
    } else {
      to[lane] = is_inside ? row[2 * lane] : T(0);
    }
  }
}

// What all columns read at one place of the weight.
template <typename T>
inline void gather(device T* places, device const T* channel, int3 tap, int first, int count,
                   constant BlocksParams& params, uint lane) {
  for (Part part(params, first, count); part.done < count; part.go_on(params, count)) {
    const int d = part.z * params.steps[0] + tap.z, h = part.y * params.steps[1] + tap.y;
    device T* to = places + part.done;
    if (d < 0 || d >= params.gathered_sizes[0] || h < 0 || h >= params.gathered_sizes[1]) {
      for (int begin = 0; begin < part.count; begin += 32) {
        if (begin + int(lane) < part.count) to[begin + lane] = T(0);
      }
    } else {
      bring(to, channel + part.image * params.gathered_image + d * params.gathered[0] + h * params.gathered[1],
            part.x * params.steps[2] + tap.x, params.steps[2], params.gathered[2], params.gathered_sizes[2], part.count,
            lane);
    }
  }
}

// The same at all places of some channels.
template <typename T>
inline void gather_channels(device T* places, int pitch, device const T* channel, int channels, int first, int count,
                            constant BlocksParams& params, uint lane) {
  for (int i = 0; i < channels; ++i, channel += params.gathered_channel) {
    int3 tap = {params.first_tap[2], params.first_tap[1], params.first_tap[0]};
    for (int z = 0; z < params.taps[0]; ++z, tap.z += params.tap_step[0]) {
      tap.y = params.first_tap[1];
      for (int y = 0; y < params.taps[1]; ++y, tap.y += params.tap_step[1]) {
        tap.x = params.first_tap[2];
        for (int x = 0; x < params.taps[2]; ++x, tap.x += params.tap_step[2], places += pitch) {
          gather(places, channel, tap, first, count, params, lane);
        }
      }
    }
  }
}

// Of narrow images, whose rows do not fill a SIMD group: each lane has a column. Offsets in a channel have 31 bits.
template <typename T>
inline void gather_columns(device T* places, int pitch, device const T* channel, int channels, int first, int count,
                           constant BlocksParams& params, uint lane) {
  const int taps = params.taps[0] * params.taps[1] * params.taps[2];
  for (int i = 0; i < count; i += 32) {
    const int column = first + i + int(lane), line = column / params.sizes[2], plane = line / params.sizes[1];
    const int x = column % params.sizes[2] * params.steps[2], y = line % params.sizes[1] * params.steps[1];
    const int z = plane % params.sizes[0] * params.steps[0], image = plane / params.sizes[0];
    const bool is_column = i + int(lane) < count;
    for (int tap = 0; tap < taps; ++tap) {
      const int w = x + params.first_tap[2] + tap % params.taps[2] * params.tap_step[2];
      const int h = y + params.first_tap[1] + tap / params.taps[2] % params.taps[1] * params.tap_step[1];
      const int d = z + params.first_tap[0] + tap / params.taps[2] / params.taps[1] * params.tap_step[0];
      const bool is_inside = is_column && w >= 0 && w < params.gathered_sizes[2] && h >= 0 &&
                             h < params.gathered_sizes[1] && d >= 0 && d < params.gathered_sizes[0];
      const int from = image * int(params.gathered_image) + d * int(params.gathered[0]) + h * int(params.gathered[1]) +
                       w * int(params.gathered[2]);
      device const T* own = channel;
      device T* to = places + long(tap) * pitch + i + lane;
      for (int j = 0; j < channels; ++j, own += params.gathered_channel, to += long(taps) * pitch) {
        *to = is_inside ? own[from] : T(0);
      }
    }
  }
}

template <typename T>
inline void write_results(device T* result, device const float* sums, int row_of_sums, int rows, int first, int count,
                          constant BlocksParams& params, uint lane) {
  for (Part part(params, first, count); part.done < count; part.go_on(params, count)) {
    device T* to = result + part.image * params.result_image + part.z * params.result[0] + part.y * params.result[1] +
                   part.x * params.result[2];
    device const float* from = sums + part.done;
    if (params.result[2] == 1) {
      for (int row = 0; row < rows; ++row) {
        for (int begin = 0; begin < part.count; begin += 32) {
          const int i = begin + int(lane);
          if (i < part.count) to[row * params.result_row + i] = T(from[row * row_of_sums + i]);
        }
      }
    } else {
      for (int i = 0; i < part.count; ++i) {
        for (int row = lane; row < rows; row += 32) {
          to[row * params.result_row + i * params.result[2]] = T(from[row * row_of_sums + i]);
        }
      }
    }
  }
}

template <typename T, int Rows, int Columns>
kernel void convolution_blocks(device T* result [[buffer(0)]], device T* matrix [[buffer(1)]],
                               device const T* gathered [[buffer(2)]], device const T* bias [[buffer(3)]],
                               device T* places [[buffer(4)]], device float* sums [[buffer(5)]],
                               constant BlocksParams& params [[buffer(6)]],
                               uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                               uint lane [[thread_index_in_simdgroup]]) {
  constexpr int width = (Columns + 31) / 32 * 32;
  constexpr auto descriptor = matmul2d_descriptor(Rows, Columns, dynamic_length_v<int>, false, false, true,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroup> operation;
  const int taps = params.taps[0] * params.taps[1] * params.taps[2];
  const long own = long(group.z) * groups.x + group.x;
  places += own * params.channels_at_once * taps * width;
  sums += own * params.rows * width;
  gathered += group.z * params.gathered_group;
  matrix += group.z * params.matrix_group;
  bias += group.z * params.bias_group;
  result += group.z * params.result_group;
  const array<long, 2> left_steps = {1, params.matrix_row}, right_steps = {1, width};
  for (int block = group.x; block < params.blocks; block += groups.x) {
    const int first = block * params.block, count = min(params.block, params.columns - first);
    for (int row = 0; row < params.rows; ++row) {
      const float begin = params.has_bias ? float(bias[row * params.bias_row]) : 0.0f;
      for (int i = 0; i < width; i += 32) sums[row * width + i + lane] = begin;
    }
    for (int channel = 0; channel < params.channels; channel += params.channels_at_once) {
      const int channels = min(params.channels_at_once, params.channels - channel);
      gather_channels(places, width, gathered + channel * params.gathered_channel, channels, first, count, params, lane);
      simdgroup_barrier(mem_flags::mem_device);
      const int depth = channels * taps;
      for (int row = 0; row < params.rows; row += Rows) {
        const int count_of_rows = min(Rows, params.rows - row);
        tensor<device T, dextents<int, 2>, tensor_inline> left(
            matrix + row * params.matrix_row + channel * taps, dextents<int, 2>(depth, count_of_rows), left_steps);
        tensor<device T, dextents<int, 2>, tensor_inline> right(places, dextents<int, 2>(Columns, depth), right_steps);
        tensor<device float, dextents<int, 2>, tensor_inline> products(
            sums + row * width, dextents<int, 2>(Columns, count_of_rows), right_steps);
        operation.run(left, right, products);
      }
      simdgroup_barrier(mem_flags::mem_device);
    }
    write_results(result, sums, width, params.rows, first, count, params, lane);
    simdgroup_barrier(mem_flags::mem_device);
  }
}

constant constexpr int sums_at_once = 8;    // rows, whose sums are in registers
constant constexpr int depth_at_once = 128;  // of gathered columns, which are in a core's first cache

// Adds products of some rows of the matrix with 32 columns; where there are fewer rows the last one is taken again.
inline void multiply(device float* sums, int pitch, device const float* matrix, long matrix_row, int rows,
                     device const float* places, int depth, uint lane) {
  long row[sums_at_once];
  float sum[sums_at_once];
  for (int i = 0; i < sums_at_once; ++i) {
    row[i] = min(i, rows - 1) * matrix_row;
    sum[i] = sums[i * pitch + lane];
  }
  places += lane;
  for (int k = 0; k < depth; ++k, places += pitch) {
    for (int i = 0; i < sums_at_once; ++i) sum[i] = fma(matrix[row[i] + k], *places, sum[i]);
  }
  for (int i = 0; i < sums_at_once; ++i) sums[i * pitch + lane] = sum[i];
}

// In float. Columns of a block are gathered by each threadgroup that has a part of the rows.
kernel void convolution_sums(device float* result [[buffer(0)]], device const float* matrix [[buffer(1)]],
                             device const float* gathered [[buffer(2)]], device const float* bias [[buffer(3)]],
                             device float* places [[buffer(4)]], device float* sums [[buffer(5)]],
                             constant BlocksParams& params [[buffer(6)]],
                             uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const int taps = params.taps[0] * params.taps[1] * params.taps[2], pitch = params.pitch;
  const long own = long(group.z) * groups.x + group.x;
  places += own * params.channels_at_once * taps * pitch;
  sums += own * params.part_rows * pitch;
  gathered += group.z * params.gathered_group;
  matrix += group.z * params.matrix_group;
  bias += group.z * params.bias_group;
  result += group.z * params.result_group;
  for (int item = group.x; item < params.blocks * params.parts; item += groups.x) {
    const int first = item / params.parts * params.block, count = min(params.block, params.columns - first);
    const int first_row = item % params.parts * params.part_rows;
    const int rows = min(params.part_rows, params.rows - first_row);
    for (int row = 0; row < params.part_rows; ++row) {
      const bool has_bias = params.has_bias && row < rows;
      const float begin = has_bias ? bias[(first_row + row) * params.bias_row] : 0.0f;
      for (int i = 0; i < count; i += 32) sums[row * pitch + i + lane] = begin;
    }
    for (int channel = 0; channel < params.channels; channel += params.channels_at_once) {
      const int channels = min(params.channels_at_once, params.channels - channel), depth = channels * taps;
      device const float* from = gathered + channel * params.gathered_channel;
      if (params.is_narrow) {
        gather_columns(places, pitch, from, channels, first, count, params, lane);
      } else {
        gather_channels(places, pitch, from, channels, first, count, params, lane);
      }
      simdgroup_barrier(mem_flags::mem_device);
      for (int begin = 0; begin < depth; begin += depth_at_once) {
        for (int i = 0; i < count; i += 32) {
          for (int row = 0; row < rows; row += sums_at_once) {
            multiply(sums + row * pitch + i, pitch,
                     matrix + (first_row + row) * params.matrix_row + channel * taps + begin, params.matrix_row,
                     rows - row, places + begin * pitch + i, min(depth_at_once, depth - begin), lane);
          }
        }
      }
      simdgroup_barrier(mem_flags::mem_device);
    }
    write_results(result + first_row * params.result_row, sums, pitch, rows, first, count, params, lane);
    simdgroup_barrier(mem_flags::mem_device);
  }
}

#define BLOCKS(T, Rows, Columns)                                                                                    \
  template [[host_name("convolution_blocks_" #Rows "_" #Columns "_" #T)]] kernel void                               \
  convolution_blocks<T, Rows, Columns>(device T*, device T*, device const T*, device const T*, device T*,           \
                                       device float*, constant BlocksParams&, uint3, uint3, uint);
#define BLOCKS_OF(T)                                                                                                \
  BLOCKS(T, 16, 96) BLOCKS(T, 16, 112) BLOCKS(T, 16, 128) BLOCKS(T, 32, 96) BLOCKS(T, 32, 112) BLOCKS(T, 32, 128)   \
  BLOCKS(T, 64, 96) BLOCKS(T, 64, 112) BLOCKS(T, 64, 128)
BLOCKS_OF(half) BLOCKS_OF(bfloat)
