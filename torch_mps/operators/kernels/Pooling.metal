// Pooling over one to three dimensions of space, with windows that slide or that divide the input evenly (adaptive).
// Gradients are gathered: a thread has one element of the input and looks at the windows that it is in.
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::opmath_t;

// Strides count elements: batch, channel, depth, height, width.
struct PoolingParams {
  long input[5], output[5], indices[5];
  int input_sizes[3], output_sizes[3];
  int kernel_size[3], stride[3], padding[3], dilation[3];
  int channels;
  int is_adaptive, count_include_pad;
  long divisor;  // 0: the size of the window
};

// Positions first, first + step, … before end; those outside of the input are not among them.
struct Window {
  int first, end, step;
  int size;  // with padding
};

inline Window window_of(constant PoolingParams& params, int axis, int output) {
  const int length = params.input_sizes[axis];
  if (params.is_adaptive) {
    const long out = params.output_sizes[axis];
    const int first = int(long(output) * length / out), end = int((long(output + 1) * length + out - 1) / out);
    return {first, end, 1, end - first};
  }
  const int step = params.dilation[axis], reach = (params.kernel_size[axis] - 1) * step + 1;
  int first = output * params.stride[axis] - params.padding[axis];
  const int padded_end = min(first + reach, length + params.padding[axis]), size = padded_end - first;
  if (first < 0) first += (step - 1 - first) / step * step;
  return {first, min(padded_end, length), step, size};
}

// The outputs whose windows may have a position.
inline int2 outputs_of(constant PoolingParams& params, int axis, int position) {
  const int outputs = params.output_sizes[axis];
  if (params.is_adaptive) {
    const long length = params.input_sizes[axis];
    return int2(int(long(position) * outputs / length), int((long(position + 1) * outputs + length - 1) / length));
  }
  const int padded = position + params.padding[axis], stride = params.stride[axis];
  const int reach = (params.kernel_size[axis] - 1) * params.dilation[axis];
  return int2(padded > reach ? (padded - reach + stride - 1) / stride : 0, min(padded / stride + 1, outputs));
}

inline bool has(Window window, int position) {
  return position >= window.first && position < window.end && (position - window.first) % window.step == 0;
}

// The place of a thread in a grid of width, height * depth, channels * batches.
struct Place {
  int batch, channel, axes[3];
  long offset(constant long (&strides)[5]) const thread {
    return batch * strides[0] + channel * strides[1] + axes[0] * strides[2] + axes[1] * strides[3] + axes[2] * strides[4];
  }
};

inline Place place_of(constant PoolingParams& params, constant int (&sizes)[3], uint3 thread_place) {
  return {int(thread_place.z) / params.channels,
          int(thread_place.z) % params.channels,
          {int(thread_place.y) / sizes[1], int(thread_place.y) % sizes[1], int(thread_place.x)}};
}

template <typename T>
inline bool is_nan(T value) {
  return value != value;
}

template <typename T>
kernel void max_pool(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                     device long* indices [[buffer(2)]], constant PoolingParams& params [[buffer(3)]],
                     uint3 thread_place [[thread_position_in_grid]]) {
  const Place place = place_of(params, params.output_sizes, thread_place);
  const Window depth = window_of(params, 0, place.axes[0]), height = window_of(params, 1, place.axes[1]),
               width = window_of(params, 2, place.axes[2]);
  input += place.batch * params.input[0] + place.channel * params.input[1];
  long index = (long(depth.first) * params.input_sizes[1] + height.first) * params.input_sizes[2] + width.first;
  T largest = T(0);
  bool is_first = true;
  for (int z = depth.first; z < depth.end; z += depth.step) {
    for (int y = height.first; y < height.end; y += height.step) {
      for (int x = width.first; x < width.end; x += width.step) {
        const T value = input[z * params.input[2] + y * params.input[3] + x * params.input[4]];
        if (is_first || value > largest || is_nan(value)) {
          largest = value;
          index = (long(z) * params.input_sizes[1] + y) * params.input_sizes[2] + x;
          is_first = false;
        }
      }
    }
  }
  output[place.offset(params.output)] = largest;
  indices[place.offset(params.indices)] = index;
}

template <typename T>
kernel void max_pool_backward(device T* grad_input [[buffer(0)]], device const T* grad_output [[buffer(1)]],
                              device const long* indices [[buffer(2)]], constant PoolingParams& params [[buffer(3)]],
                              uint3 thread_place [[thread_position_in_grid]]) {
  const Place place = place_of(params, params.input_sizes, thread_place);
  const int2 depth = outputs_of(params, 0, place.axes[0]), height = outputs_of(params, 1, place.axes[1]),
             width = outputs_of(params, 2, place.axes[2]);
  const long own = (long(place.axes[0]) * params.input_sizes[1] + place.axes[1]) * params.input_sizes[2] + place.axes[2];
  grad_output += place.batch * params.output[0] + place.channel * params.output[1];
  indices += place.batch * params.indices[0] + place.channel * params.indices[1];
  opmath_t<T> sum(0);
  for (int z = depth.x; z < depth.y; ++z) {
    for (int y = height.x; y < height.y; ++y) {
      for (int x = width.x; x < width.y; ++x) {
        if (indices[z * params.indices[2] + y * params.indices[3] + x * params.indices[4]] == own) {
          sum += opmath_t<T>(grad_output[z * params.output[2] + y * params.output[3] + x * params.output[4]]);
        }
      }
    }
  }
  grad_input[place.offset(params.input)] = T(sum);
}

template <typename T>
inline opmath_t<T> divisor_of(constant PoolingParams& params, Window depth, Window height, Window width) {
  if (params.divisor != 0) return opmath_t<T>(params.divisor);
  if (params.count_include_pad) return opmath_t<T>(long(depth.size) * height.size * width.size);
  return opmath_t<T>(long(depth.end - depth.first) * (height.end - height.first) * (width.end - width.first));
}

template <typename T>
kernel void avg_pool(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                     constant PoolingParams& params [[buffer(2)]], uint3 thread_place [[thread_position_in_grid]]) {
  const Place place = place_of(params, params.output_sizes, thread_place);
  const Window depth = window_of(params, 0, place.axes[0]), height = window_of(params, 1, place.axes[1]),
               width = window_of(params, 2, place.axes[2]);
  input += place.batch * params.input[0] + place.channel * params.input[1];
  opmath_t<T> sum(0);
  for (int z = depth.first; z < depth.end; ++z) {
    for (int y = height.first; y < height.end; ++y) {
      for (int x = width.first; x < width.end; ++x) {
        sum += opmath_t<T>(input[z * params.input[2] + y * params.input[3] + x * params.input[4]]);
      }
    }
  }
  const bool is_empty = depth.first >= depth.end || height.first >= height.end || width.first >= width.end;
  output[place.offset(params.output)] = is_empty ? T(0) : T(sum / divisor_of<T>(params, depth, height, width));
}

// Of windows that slide along rows whose elements lie side by side, `Step` at a time: a SIMD group has some rows.
constant constexpr int rows_at_once = 16;

template <typename T, int Step>
kernel void avg_pool_rows(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                          constant PoolingParams& params [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]]) {
  const int batch = int(group.z) / params.channels, channel = int(group.z) % params.channels;
  input += batch * params.input[0] + channel * params.input[1];
  output += batch * params.output[0] + channel * params.output[1];
  const int rows = params.output_sizes[0] * params.output_sizes[1], first_row = int(group.y) * rows_at_once;
  const int length = params.input_sizes[2], padding = params.padding[2], size = params.kernel_size[2];
  for (int row = first_row; row < min(first_row + rows_at_once, rows); ++row) {
    const int z = row / params.output_sizes[1], y = row % params.output_sizes[1];
    const Window depth = window_of(params, 0, z), height = window_of(params, 1, y);
    const float included = float(depth.size) * float(height.size);
    const int lines = max(depth.end - depth.first, 0) * max(height.end - height.first, 0);
    device T* to = output + z * params.output[2] + y * params.output[3];
    for (int x = lane; x < params.output_sizes[2]; x += 32) {
      const int first = x * Step - padding;
      float sum = 0;
      for (int d = depth.first; d < depth.end; ++d) {
        for (int h = height.first; h < height.end; ++h) {
          device const T* from = input + d * params.input[2] + h * params.input[3];
          for (int i = 0; i < size; ++i) {
            const int w = first + i;
            sum += w >= 0 && w < length ? float(from[w]) : 0.0f;
          }
        }
      }
      const int there = min(first + size, length) - max(first, 0);
      const float with_padding = included * float(min(first + size, length + padding) - first);
      const float divisor = params.divisor != 0        ? float(params.divisor)
                            : params.count_include_pad ? with_padding
                                                       : float(lines) * float(there);
      to[x] = lines == 0 || there <= 0 ? T(0) : T(sum / divisor);
    }
  }
}

template <typename T>
kernel void avg_pool_backward(device T* grad_input [[buffer(0)]], device const T* grad_output [[buffer(1)]],
                              constant PoolingParams& params [[buffer(2)]],
                              uint3 thread_place [[thread_position_in_grid]]) {
  const Place place = place_of(params, params.input_sizes, thread_place);
  const int2 depth = outputs_of(params, 0, place.axes[0]), height = outputs_of(params, 1, place.axes[1]),
             width = outputs_of(params, 2, place.axes[2]);
  grad_output += place.batch * params.output[0] + place.channel * params.output[1];
  opmath_t<T> sum(0);
  for (int z = depth.x; z < depth.y; ++z) {
    const Window in_depth = window_of(params, 0, z);
    if (!has(in_depth, place.axes[0])) continue;
    for (int y = height.x; y < height.y; ++y) {
      const Window in_height = window_of(params, 1, y);
      if (!has(in_height, place.axes[1])) continue;
      for (int x = width.x; x < width.y; ++x) {
        const Window in_width = window_of(params, 2, x);
        if (!has(in_width, place.axes[2])) continue;
        sum += opmath_t<T>(grad_output[z * params.output[2] + y * params.output[3] + x * params.output[4]]) /
               divisor_of<T>(params, in_depth, in_height, in_width);
      }
    }
  }
  grad_input[place.offset(params.input)] = T(sum);
}

#define MAX_POOL(T)                                                                                              \
  template [[host_name("max_pool_" #T)]] kernel void max_pool<T>(device T*, device const T*, device long*,        \
                                                                 constant PoolingParams&, uint3);                 \
  template [[host_name("max_pool_backward_" #T)]] kernel void max_pool_backward<T>(                               \
      device T*, device const T*, device const long*, constant PoolingParams&, uint3);
#define AVG_POOL(T)                                                                                              \
  template [[host_name("avg_pool_" #T)]] kernel void avg_pool<T>(device T*, device const T*,                      \
                                                                 constant PoolingParams&, uint3);                 \
  template [[host_name("avg_pool_backward_" #T)]] kernel void avg_pool_backward<T>(device T*, device const T*,    \
                                                                                   constant PoolingParams&, uint3);
#define AVG_POOL_ROWS(T, Step)                                                                                   \
  template [[host_name("avg_pool_rows_" #Step "_" #T)]] kernel void avg_pool_rows<T, Step>(                       \
      device T*, device const T*, constant PoolingParams&, uint3, uint);
#define AVG_POOL_OF_FLOATS(T) AVG_POOL_ROWS(T, 1) AVG_POOL_ROWS(T, 2)
AVG_POOL_OF_FLOATS(float) AVG_POOL_OF_FLOATS(half) AVG_POOL_OF_FLOATS(bfloat)
MAX_POOL(float) MAX_POOL(half) MAX_POOL(bfloat)
MAX_POOL(long) MAX_POOL(int) MAX_POOL(short) MAX_POOL(char) MAX_POOL(uchar)
AVG_POOL(float) AVG_POOL(half) AVG_POOL(bfloat) AVG_POOL(long)
