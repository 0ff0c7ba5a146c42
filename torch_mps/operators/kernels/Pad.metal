// Padding by reflection or replication over one to three dimensions of space. Gradients are gathered: a thread has one
// input and sums the outputs that are copies of it.
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::opmath_t;

// Strides count elements: batch, channel, depth, height, width.
struct PadParams {
  long input[5], output[5];
  int input_sizes[3], output_sizes[3], before[3];
  int channels;
};

template <bool reflects>
inline int source_of(constant PadParams& params, int axis, int output) {
  const int last = params.input_sizes[axis] - 1, position = output - params.before[axis];
  if (!reflects) return clamp(position, 0, last);
  return position < 0 ? -position : position > last ? 2 * last - position : position;
}

// The outputs that are copies of an input: count of them, first, first + step, …, or up to three reflections.
struct Copies {
  int count;
  int places[3];
  bool is_range;
};

template <bool reflects>
inline Copies copies_of(constant PadParams& params, int axis, int input) {
  const int last = params.input_sizes[axis] - 1, before = params.before[axis], outputs = params.output_sizes[axis];
  if (!reflects) {
    const int first = input == 0 ? 0 : max(input + before, 0);
    const int end = input == last ? outputs : min(input + before + 1, outputs);
    return {max(end - first, 0), {first, 0, 0}, true};
  }
  Copies copies{0, {0, 0, 0}, false};
  const int candidates[3] = {before + input, before - input, before + 2 * last - input};
  for (int i = 0; i < 3; ++i) {
    if (candidates[i] < 0 || candidates[i] >= outputs || (i > 0 && candidates[i] == candidates[0])) continue;
    if (i == 2 && candidates[2] == candidates[1]) continue;
    if (source_of<true>(params, axis, candidates[i]) == input) copies.places[copies.count++] = candidates[i];
  }
  return copies;
}

inline int place_of(thread const Copies& copies, int number) {
  return copies.is_range ? copies.places[0] + number : copies.places[number];
}

template <typename T, bool reflects>
kernel void pad(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                constant PadParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int batch = place.z / params.channels, channel = place.z % params.channels;
  const int d = place.y / params.output_sizes[1], h = place.y % params.output_sizes[1], w = place.x;
  output[batch * params.output[0] + channel * params.output[1] + d * params.output[2] + h * params.output[3] +
         w * params.output[4]] =
      input[batch * params.input[0] + channel * params.input[1] + source_of<reflects>(params, 0, d) * params.input[2] +
            source_of<reflects>(params, 1, h) * params.input[3] + source_of<reflects>(params, 2, w) * params.input[4]];
}

template <typename T, bool reflects>
kernel void pad_backward(device T* grad_input [[buffer(0)]], device const T* grad_output [[buffer(1)]],
                         constant PadParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int batch = place.z / params.channels, channel = place.z % params.channels;
  const int d = place.y / params.input_sizes[1], h = place.y % params.input_sizes[1], w = place.x;
  const Copies depth = copies_of<reflects>(params, 0, d), height = copies_of<reflects>(params, 1, h),
               width = copies_of<reflects>(params, 2, w);
  grad_output += batch * params.output[0] + channel * params.output[1];
  opmath_t<T> sum(0);
  for (int z = 0; z < depth.count; ++z) {
    for (int y = 0; y < height.count; ++y) {
      for (int x = 0; x < width.count; ++x) {
        sum += opmath_t<T>(grad_output[place_of(depth, z) * params.output[2] + place_of(height, y) * params.output[3] +
                                       place_of(width, x) * params.output[4]]);
      }
    }
  }
  grad_input[batch * params.input[0] + channel * params.input[1] + d * params.input[2] + h * params.input[3] +
             w * params.input[4]] = T(sum);
}

#define PAD(NAME, REFLECTS, T)                                                                                  \
  template [[host_name(#NAME "_" #T)]] kernel void pad<T, REFLECTS>(device T*, device const T*,                 \
                                                                    constant PadParams&, uint3);                \
  template [[host_name(#NAME "_backward_" #T)]] kernel void pad_backward<T, REFLECTS>(device T*, device const T*, \
                                                                                      constant PadParams&, uint3);
#define PAD_TYPES(T) PAD(reflection_pad, true, T) PAD(replication_pad, false, T)
PAD_TYPES(float) PAD_TYPES(half) PAD_TYPES(bfloat) PAD_TYPES(float2) PAD_TYPES(half2)
PAD_TYPES(long) PAD_TYPES(int) PAD_TYPES(short) PAD_TYPES(char) PAD_TYPES(uchar)
