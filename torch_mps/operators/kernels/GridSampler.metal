// Samples of images and volumes at places that a grid gives, from -1 to 1. Along each dimension a place has up to four
// taps with weights; slopes are the derivatives of the weights with respect to the grid.
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;

// Strides count elements: batch, channel, depth, height, width; of the grid batch, depth, height, width, coordinate.
struct GridParams {
  long input[5], output[5], grid[5], grad_grid[5];
  int input_sizes[3], output_sizes[3];
  int channels, space;
  int mode;     // 0 linear, 1 nearest, 2 cubic
  int padding;  // 0 zeros, 1 border, 2 reflection
  int align_corners, has_grad_input;
};

struct Taps {
  int count;
  int index[4];  // -1: outside
  float weight[4], slope[4];
};

// A coordinate and the sign of its derivative, which is 0 where it does not move.
struct Coordinate {
  float value, slope;
};

inline Coordinate clip(Coordinate coordinate, int size) {
  if (!(coordinate.value > 0.0f)) return {0.0f, 0.0f};
  if (coordinate.value >= float(size - 1)) return {float(size - 1), 0.0f};
  return coordinate;
}

inline Coordinate reflect(Coordinate coordinate, int twice_low, int twice_high) {
  if (twice_low == twice_high) return {0.0f, 0.0f};
  const float low = twice_low / 2.0f, span = (twice_high - twice_low) / 2.0f;
  const float distance = abs(coordinate.value - low);
  const float slope = coordinate.value < low ? -coordinate.slope : coordinate.slope;
  const float rest = fmod(distance, span);
  const bool is_even = fmod(floor(distance / span), 2.0f) == 0.0f;
  return is_even ? Coordinate{rest + low, slope} : Coordinate{span - rest + low, -slope};
}

inline Coordinate inside(constant GridParams& params, Coordinate coordinate, int size) {
  if (params.padding == 1) return clip(coordinate, size);
  if (params.padding == 2) {
    coordinate = params.align_corners ? reflect(coordinate, 0, 2 * (size - 1)) : reflect(coordinate, -1, 2 * size - 1);
    return clip(coordinate, size);
  }
  return coordinate;
}

inline int index_of(float place, int size) { return place >= 0.0f && place < float(size) ? int(place) : -1; }

inline float cubic(float x) {
  const float a = -0.75f;
  return x < 1.0f ? ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f : ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
}

inline float cubic_slope(float x) {
  const float a = -0.75f;
  return x < 1.0f ? (3.0f * (a + 2.0f) * x - 2.0f * (a + 3.0f)) * x : (3.0f * a * x - 10.0f * a) * x + 8.0f * a;
}

inline Taps taps_of(constant GridParams& params, int axis, float normal) {
  const int size = params.input_sizes[axis];
  const float factor = params.align_corners ? (size - 1) / 2.0f : size / 2.0f;
  const float place = params.align_corners ? (normal + 1.0f) / 2.0f * (size - 1) : ((normal + 1.0f) * size - 1.0f) / 2.0f;
  Taps taps;
  if (params.mode == 2) {
    const float floored = floor(place), rest = place - floored;
    taps.count = 4;
    for (int i = 0; i < 4; ++i) {
      const float distance = i < 2 ? rest + 1.0f - i : i - 1.0f - rest;
      taps.index[i] = index_of(inside(params, {floored - 1.0f + i, 1.0f}, size).value, size);
      taps.weight[i] = cubic(distance);
      taps.slope[i] = (i < 2 ? cubic_slope(distance) : -cubic_slope(distance)) * factor;
    }
    return taps;
  }
  const Coordinate coordinate = inside(params, {place, factor}, size);
  if (params.mode == 1) {
    taps.count = 1;
    taps.index[0] = index_of(rint(coordinate.value), size);
    taps.weight[0] = 1.0f;
    taps.slope[0] = 0.0f;
    return taps;
  }
  const float floored = floor(coordinate.value), rest = coordinate.value - floored;
  taps.count = 2;
  taps.index[0] = index_of(floored, size);
  taps.index[1] = index_of(floored + 1.0f, size);
  taps.weight[0] = 1.0f - rest;
  taps.weight[1] = rest;
  taps.slope[0] = -coordinate.slope;
  taps.slope[1] = coordinate.slope;
  return taps;
}

template <typename T>
inline void all_taps(constant GridParams& params, device const T* grid, int batch, int d, int h, int w,
                     thread Taps (&taps)[3]) {
  grid += batch * params.grid[0] + d * params.grid[1] + h * params.grid[2] + w * params.grid[3];
  for (int axis = 0; axis < 3; ++axis) {
    if (axis < 3 - params.space) {
      taps[axis] = {1, {0, 0, 0, 0}, {1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}};
    } else {
      taps[axis] = taps_of(params, axis, float(grid[(2 - axis) * params.grid[4]]));  // x, y, z
    }
  }
}

template <typename T>
kernel void grid_sampler(device T* output [[buffer(0)]], device const T* input [[buffer(1)]],
                         device const T* grid [[buffer(2)]], constant GridParams& params [[buffer(3)]],
                         uint3 place [[thread_position_in_grid]]) {
  const int w = place.x, h = place.y % params.output_sizes[1], d = place.y / params.output_sizes[1], batch = place.z;
  Taps taps[3];
  all_taps(params, grid, batch, d, h, w, taps);
  output += batch * params.output[0] + d * params.output[2] + h * params.output[3] + w * params.output[4];
  for (int channel = 0; channel < params.channels; ++channel) {
    device const T* source = input + batch * params.input[0] + channel * params.input[1];
    float sum = 0.0f;
    for (int z = 0; z < taps[0].count; ++z) {
      for (int y = 0; y < taps[1].count; ++y) {
        for (int x = 0; x < taps[2].count; ++x) {
          if (taps[0].index[z] < 0 || taps[1].index[y] < 0 || taps[2].index[x] < 0) continue;
          sum += taps[0].weight[z] * taps[1].weight[y] * taps[2].weight[x] *
                 float(source[taps[0].index[z] * params.input[2] + taps[1].index[y] * params.input[3] +
                              taps[2].index[x] * params.input[4]]);
        }
      }
    }
    output[channel * params.output[1]] = T(sum);
  }
}

// Sums of the input's gradient are floats: several places may meet in one element.
template <typename T>
kernel void grid_sampler_backward(device T* grad_grid [[buffer(0)]], device atomic<float>* grad_input [[buffer(1)]],
                                  device const T* grad_output [[buffer(2)]], device const T* input [[buffer(3)]],
                                  device const T* grid [[buffer(4)]], constant GridParams& params [[buffer(5)]],
                                  uint3 place [[thread_position_in_grid]]) {
  const int w = place.x, h = place.y % params.output_sizes[1], d = place.y / params.output_sizes[1], batch = place.z;
  Taps taps[3];
  all_taps(params, grid, batch, d, h, w, taps);
  grad_output += batch * params.output[0] + d * params.output[2] + h * params.output[3] + w * params.output[4];
  const long volume = long(params.input_sizes[0]) * params.input_sizes[1] * params.input_sizes[2];
  float slopes[3] = {0.0f, 0.0f, 0.0f};
  for (int channel = 0; channel < params.channels; ++channel) {
    const float grad = float(grad_output[channel * params.output[1]]);
    device const T* source = input + batch * params.input[0] + channel * params.input[1];
    device atomic<float>* target = grad_input + (long(batch) * params.channels + channel) * volume;
    for (int z = 0; z < taps[0].count; ++z) {
      for (int y = 0; y < taps[1].count; ++y) {
        for (int x = 0; x < taps[2].count; ++x) {
          const int iz = taps[0].index[z], iy = taps[1].index[y], ix = taps[2].index[x];
          if (iz < 0 || iy < 0 || ix < 0) continue;
          const float wz = taps[0].weight[z], wy = taps[1].weight[y], wx = taps[2].weight[x];
          if (params.has_grad_input) {
            atomic_fetch_add_explicit(target + (long(iz) * params.input_sizes[1] + iy) * params.input_sizes[2] + ix,
                                      grad * wz * wy * wx, memory_order_relaxed);
          }
          const float value = grad * float(source[iz * params.input[2] + iy * params.input[3] + ix * params.input[4]]);
          slopes[0] += value * taps[0].slope[z] * wy * wx;
          slopes[1] += value * wz * taps[1].slope[y] * wx;
          slopes[2] += value * wz * wy * taps[2].slope[x];
        }
      }
    }
  }
  grad_grid += batch * params.grad_grid[0] + d * params.grad_grid[1] + h * params.grad_grid[2] + w * params.grad_grid[3];
  for (int axis = 3 - params.space; axis < 3; ++axis) grad_grid[(2 - axis) * params.grad_grid[4]] = T(slopes[axis]);
}

#define GRID_SAMPLER(T)                                                                                        \
  template [[host_name("grid_sampler_" #T)]] kernel void grid_sampler<T>(device T*, device const T*,           \
                                                                         device const T*, constant GridParams&, uint3); \
  template [[host_name("grid_sampler_backward_" #T)]] kernel void grid_sampler_backward<T>(                    \
      device T*, device atomic<float>*, device const T*, device const T*, device const T*, constant GridParams&, uint3);
GRID_SAMPLER(float) GRID_SAMPLER(half) GRID_SAMPLER(bfloat)
