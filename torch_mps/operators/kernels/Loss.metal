// Losses of elements and their gradients: one thread per element.
#include <metal_stdlib>
using namespace metal;

// Strides in elements, innermost dimension first; of the result and of up to three operands.
struct Elements {
  int dimensions;
  float first;
  float second;
  long sizes[16];
  long strides[4][16];
};

struct Places {
  long at[4];
};

inline Places places_of(long index, constant Elements& elements) {
  Places places = {{0, 0, 0, 0}};
  for (int dimension = 0; dimension < elements.dimensions; ++dimension) {
    const long position = index % elements.sizes[dimension];
    index /= elements.sizes[dimension];
    for (int operand = 0; operand < 4; ++operand) places.at[operand] += position * elements.strides[operand][dimension];
  }
  return places;
}

struct SquaredError {
  static float of(float x, float target, constant Elements&) { return (x - target) * (x - target); }
  static float of(float x, float target, float gradient, constant Elements& elements) {
    return elements.first * (x - target) * gradient;
  }
};

// With the limit below which it is a square.
struct SmoothL1 {
  static float of(float x, float target, constant Elements& elements) {
    const float z = fabs(x - target), beta = elements.first;
    return z < beta ? 0.5f * z * z / beta : z - 0.5f * beta;
  }
  static float of(float input, float target, float gradient, constant Elements& elements) {
    const float x = input - target, factor = elements.first, beta = elements.second;
    return x <= -beta ? -factor * gradient : x >= beta ? factor * gradient : factor * x * gradient / beta;
  }
};

struct Huber {
  static float of(float x, float target, constant Elements& elements) {
    const float z = fabs(x - target), delta = elements.first;
    return z <= delta ? 0.5f * z * z : delta * (z - 0.5f * delta);
  }
  static float of(float input, float target, float gradient, constant Elements& elements) {
    const float x = input - target, factor = elements.first, delta = elements.second;
    return x <= -delta ? -factor * gradient * delta : x >= delta ? factor * gradient * delta : factor * x * gradient;
  }
};

inline float log_from_below(float x, float logarithm) { return isnan(x) ? x : max(logarithm, -100.0f); }
inline float log1p_of_negative(float x) {
  // log(1 - x) without what 1 - x loses.
  const float u = 1 - x;
  return u == 1 ? -x : log(u) * (-x / (u - 1));
}
struct BinaryCrossEntropy {
  static float of(float x, float target, constant Elements&) {
    const float far = x == 1 ? -INFINITY : log1p_of_negative(x);
    return (target - 1) * log_from_below(x, far) - target * log_from_below(x, log(x));
  }
  static float of(float x, float target, float gradient, constant Elements&) {
    return gradient * (x - target) / max((1 - x) * x, 1e-12f);
  }
};

template <typename F, typename T>
kernel void loss(
    device T* output [[buffer(0)]], device const T* input [[buffer(1)]], device const T* target [[buffer(2)]],
    constant Elements& elements [[buffer(4)]], uint index [[thread_position_in_grid]]) {
  const Places places = places_of(index, elements);
  output[places.at[0]] = T(F::of(float(input[places.at[1]]), float(target[places.at[2]]), elements));
}

template <typename F, typename T>
kernel void loss_backward(
    device T* output [[buffer(0)]], device const T* input [[buffer(1)]], device const T* target [[buffer(2)]],
    device const T* gradient [[buffer(3)]], constant Elements& elements [[buffer(4)]],
    uint index [[thread_position_in_grid]]) {
  const Places places = places_of(index, elements);
  output[places.at[0]] = T(
      F::of(float(input[places.at[1]]), float(target[places.at[2]]), float(gradient[places.at[3]]), elements));
}

#define LOSS_(NAME, F, T)                                                                                            \
  template [[host_name(#NAME "_" #T)]] kernel void loss<F, T>(                                                       \
      device T*, device const T*, device const T*, constant Elements&, uint);                                        \
  template [[host_name(#NAME "_backward_" #T)]] kernel void loss_backward<F, T>(                                     \
      device T*, device const T*, device const T*, device const T*, constant Elements&, uint);
#define LOSS(NAME, F) LOSS_(NAME, F, float) LOSS_(NAME, F, half) LOSS_(NAME, F, bfloat)

LOSS(mse_loss, SquaredError)
LOSS(smooth_l1_loss, SmoothL1)
LOSS(huber_loss, Huber)
LOSS(binary_cross_entropy, BinaryCrossEntropy)
