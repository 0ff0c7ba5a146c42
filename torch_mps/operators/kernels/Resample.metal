// Resampling over one to three dimensions of space: each output is a sum of inputs near its place, with a weight per
// dimension. Gradients are gathered: a thread has one input and asks the outputs near it for their weights.
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::opmath_t;

// Strides count elements: batch, channel, depth, height, width.
struct ResampleParams {
  long input[5], output[5];
  int input_sizes[3], output_sizes[3];
  float scales[3];  // inputs per output
  int channels, align_corners;
};

enum Mode { nearest, nearest_exact, linear, cubic, linear_antialias, cubic_antialias };

inline float cubic_filter(float distance, float a) {
  const float x = abs(distance);
  if (x < 1.0f) return ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
  if (x < 2.0f) return ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
  return 0.0f;
}

// The inputs of one output in one dimension.
template <Mode mode>
struct Taps {
  int first, count, last;
  float position, inverse_scale, normal;

  Taps(constant ResampleParams& params, int axis, int output) thread {
    const int length = params.input_sizes[axis];
    const float scale = params.scales[axis];
    last = length - 1;
    inverse_scale = 1.0f;
    normal = 1.0f;
    if (length == 1 && params.output_sizes[axis] == 1) {
      first = 0;
      count = 1;
      position = 0.5f;  // in the middle of the filter
    } else if (mode == nearest || mode == nearest_exact) {
      first = min(int(floor(mode == nearest ? output * scale : (output + 0.5f) * scale)), last);
      count = 1;
      position = 0.0f;
    } else if (mode == linear || mode == cubic) {
      position = params.align_corners ? output * scale : (output + 0.5f) * scale - 0.5f;
      if (mode == linear) position = max(position, 0.0f);
      const int floored = min(int(floor(position)), last);
      position = clamp(position - floored, 0.0f, 1.0f);
      first = mode == linear ? floored : floored - 1;
      count = mode == linear ? 2 : 4;
    } else {
      const float reach = (mode == linear_antialias ? 1.0f : 2.0f) * max(scale, 1.0f);
      position = scale * (output + 0.5f);
      inverse_scale = scale >= 1.0f ? 1.0f / scale : 1.0f;
      first = max(int(position - reach + 0.5f), 0);
      count = min(int(position + reach + 0.5f), length) - first;
      float total = 0.0f;
      for (int tap = 0; tap < count; ++tap) total += filter(tap);
      if (total != 0.0f) normal = 1.0f / total;
    }
  }

  float filter(int tap) const thread {
    const float distance = (tap + first - position + 0.5f) * inverse_scale;
    return mode == linear_antialias ? max(1.0f - abs(distance), 0.0f) : cubic_filter(distance, -0.5f);
  }
  int index(int tap) const thread { return clamp(first + tap, 0, last); }
  float weight(int tap) const thread {
    if (count == 1 && mode != linear_antialias && mode != cubic_antialias) return 1.0f;
    if (mode == linear) return tap == 0 ? 1.0f - position : position;
    if (mode == cubic) return cubic_filter(position + 1.0f - tap, -0.75f);
    return filter(tap) * normal;
  }
  float weight_of(int input) const thread {
    float sum = 0.0f;
    for (int tap = 0; tap < count; ++tap) {
      if (index(tap) == input) sum += weight(tap);
    }
    return sum;
  }
};

// Outputs that an input may be part of, rather too many than too few.
template <Mode mode>
inline int2 outputs_near(constant ResampleParams& params, int axis, int input) {
  const int outputs = params.output_sizes[axis];
  const float scale = params.scales[axis];
  if (scale <= 0.0f) return int2(0, outputs);
  float reach = mode == nearest || mode == nearest_exact ? 1.5f : mode == linear ? 2.0f : 4.0f;
  if (mode == linear_antialias || mode == cubic_antialias) reach = reach / 2.0f * max(scale, 1.0f) + 2.0f;
  const bool is_last = input == params.input_sizes[axis] - 1;
  const int begin = input == 0 ? 0 : max(int(floor((input - reach) / scale)) - 1, 0);
  const int end = is_last ? outputs : int(min(ceil((input + reach) / scale) + 2.0f, float(outputs)));
  return int2(begin, min(end, outputs));
}

// Sums of bytes are rounded row by row, as the CPU's are.
template <typename T>
inline float rounded(float value) {
  return value;
}
template <>
inline float rounded<uchar>(float value) {
  return clamp(floor(value + 0.5f), 0.0f, 255.0f);
}

template <typename T, Mode mode>
kernel void upsample(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                     constant ResampleParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int batch = place.z / params.channels, channel = place.z % params.channels;
  const int d = place.y / params.output_sizes[1], h = place.y % params.output_sizes[1], w = place.x;
  const Taps<mode> depth(params, 0, d), height(params, 1, h), width(params, 2, w);
  input += batch * params.input[0] + channel * params.input[1];
  output += batch * params.output[0] + channel * params.output[1] + d * params.output[2] + h * params.output[3] +
            w * params.output[4];
  if (mode == nearest || mode == nearest_exact) {
    *output = input[depth.first * params.input[2] + height.first * params.input[3] + width.first * params.input[4]];
    return;
  }
  float sum = 0.0f;
  for (int z = 0; z < depth.count; ++z) {
    for (int y = 0; y < height.count; ++y) {
      device const T* row = input + depth.index(z) * params.input[2] + height.index(y) * params.input[3];
      float row_sum = 0.0f;
      for (int x = 0; x < width.count; ++x) row_sum += width.weight(x) * float(row[width.index(x) * params.input[4]]);
      sum += depth.weight(z) * height.weight(y) * rounded<T>(row_sum);
    }
  }
  *output = T(rounded<T>(sum));
}

// Of two dimensions, where rows lie side by side in both tensors: a simdgroup has 32 columns of several rows. What they need
// of a row of the input is read once, where it is no more than 32 elements, and serves all rows that lie near it.
constant constexpr int rows_of_group = 16;

struct LinearColumns {
  int first, last, left, right;
  float left_weight, right_weight;
  bool is_single, is_narrow;

  LinearColumns(constant ResampleParams& params, int column, uint lane) thread {
    const Taps<linear> taps(params, 2, min(column, params.output_sizes[2] - 1));
    last = params.input_sizes[2] - 1;
    is_single = taps.count == 1;
    left = taps.index(0);
    right = taps.index(1);
    left_weight = taps.weight(0);
    right_weight = taps.weight(1);
    first = simd_min(left);
    is_narrow = simd_max(right) - first < 32;
  }

  template <typename T>
  float of(device const T* row, uint lane) const thread {
    float a, b;
    if (is_narrow) {
      const int place = first + int(lane);
      const float own = place <= last ? float(row[place]) : 0.0f;
      a = simd_shuffle(own, ushort(left - first));
      b = simd_shuffle(own, ushort(right - first));
    } else {
      a = float(row[left]);
      b = float(row[right]);
    }
    return is_single ? a : left_weight * a + right_weight * b;
  }
};

template <typename T>
kernel void upsample_linear_rows(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                                 constant ResampleParams& params [[buffer(2)]],
                                 uint3 group [[threadgroup_position_in_grid]],
                                 uint lane [[thread_index_in_simdgroup]]) {
  const int batch = group.z / params.channels, channel = group.z % params.channels;
  const int column = group.x * 32 + lane, begin = group.y * rows_of_group,
            end = min(begin + rows_of_group, params.output_sizes[1]);
  const LinearColumns columns(params, column, lane);
  input += batch * params.input[0] + channel * params.input[1];
  output += batch * params.output[0] + channel * params.output[1];
  int upper_row = -1, lower_row = -1;  // that upper and lower are made of
  float upper = 0.0f, lower = 0.0f;
  for (int h = begin; h < end; ++h) {
    const Taps<linear> height(params, 1, h);
    const int up = height.index(0), low = height.index(1);
    if (up != upper_row) {
      upper = up == lower_row ? lower : columns.of(input + up * params.input[3], lane);
      upper_row = up;
    }
    if (low != lower_row) {
      lower = low == upper_row ? upper : columns.of(input + low * params.input[3], lane);
      lower_row = low;
    }
    const float sum = height.count == 1 ? upper : height.weight(0) * upper + height.weight(1) * lower;
    if (column < params.output_sizes[2]) output[h * params.output[3] + column] = T(sum);
  }
}

template <typename T, Mode mode>
kernel void upsample_backward(device T* grad_input [[buffer(0)]], device const T* grad_output [[buffer(1)]],
                              constant ResampleParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int batch = place.z / params.channels, channel = place.z % params.channels;
  const int d = place.y / params.input_sizes[1], h = place.y % params.input_sizes[1], w = place.x;
  const int2 depth = outputs_near<mode>(params, 0, d), height = outputs_near<mode>(params, 1, h),
             width = outputs_near<mode>(params, 2, w);
  grad_output += batch * params.output[0] + channel * params.output[1];
  float sum = 0.0f;
  for (int z = depth.x; z < depth.y; ++z) {
    const float in_depth = Taps<mode>(params, 0, z).weight_of(d);
    if (in_depth == 0.0f) continue;
    for (int y = height.x; y < height.y; ++y) {
      const float in_height = Taps<mode>(params, 1, y).weight_of(h);
      if (in_height == 0.0f) continue;
      device const T* row = grad_output + z * params.output[2] + y * params.output[3];
      for (int x = width.x; x < width.y; ++x) {
        const float in_width = Taps<mode>(params, 2, x).weight_of(w);
        if (in_width != 0.0f) sum += in_depth * in_height * in_width * float(row[x * params.output[4]]);
      }
    }
  }
  grad_input[batch * params.input[0] + channel * params.input[1] + d * params.input[2] + h * params.input[3] +
             w * params.input[4]] = T(rounded<T>(sum));
}

#define UPSAMPLE(MODE, T)                                                                                    \
  template [[host_name("upsample_" #MODE "_" #T)]] kernel void upsample<T, MODE>(                            \
      device T*, device const T*, constant ResampleParams&, uint3);                                          \
  template [[host_name("upsample_backward_" #MODE "_" #T)]] kernel void upsample_backward<T, MODE>(          \
      device T*, device const T*, constant ResampleParams&, uint3);
#define UPSAMPLE_TYPES(MODE) UPSAMPLE(MODE, float) UPSAMPLE(MODE, half) UPSAMPLE(MODE, bfloat) UPSAMPLE(MODE, uchar)
#define UPSAMPLE_ROWS(T)                                                                                     \
  template [[host_name("upsample_linear_rows_" #T)]] kernel void upsample_linear_rows<T>(                    \
      device T*, device const T*, constant ResampleParams&, uint3, uint);
UPSAMPLE_ROWS(float)
UPSAMPLE_ROWS(half)
UPSAMPLE_ROWS(bfloat)
UPSAMPLE_TYPES(nearest)
UPSAMPLE_TYPES(nearest_exact)
UPSAMPLE_TYPES(linear)
UPSAMPLE_TYPES(cubic)
UPSAMPLE_TYPES(linear_antialias)
UPSAMPLE_TYPES(cubic_antialias)
