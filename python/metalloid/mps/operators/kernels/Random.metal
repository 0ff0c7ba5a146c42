// Random numbers. Element i of a tensor comes from the Philox number offset + i of the generator's seed, so results do not
// depend on how the grid runs.
#include <c10/metal/random.h>
#include <metal_stdlib>

using namespace metal;

// state: seed, offset
inline uint4 bits(constant long2& state, uint thread_index) {
  return c10::metal::philox4::rand(state.x, state.y + long(thread_index));
}

struct Uniform {  // from, to; `to` is excluded, also after rounding to T
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    const T value = T(c10::metal::rand(state.x, state.y + long(i)) * (parameters.y - parameters.x) + parameters.x);
    return value == T(parameters.y) ? T(parameters.x) : value;
  }
};

struct Normal {  // mean, standard deviation
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    return T(c10::metal::randn(state.x, state.y + long(i)) * parameters.y + parameters.x);
  }
};

struct LogNormal {
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    return T(precise::exp(Normal::make<float>(state, parameters, i)));
  }
};

struct Exponential {  // lambda; greater than zero, whoever divides by it
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    const float u = c10::metal::rand(state.x, state.y + long(i));
    const T value = T(max(-precise::log(1.0f - u), 0x1p-25f) / parameters.x);
    return value;
  }
};

struct Cauchy {  // median, sigma
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    const float u = c10::metal::rand(state.x, state.y + long(i));
    return T(parameters.x + parameters.y * precise::tan(M_PI_F * (u - 0.5f)));
  }
};

struct Geometric {  // p, log(1 - p)
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    const float u = 1.0f - c10::metal::rand(state.x, state.y + long(i));  // greater than 0
    return T(max(ceil(precise::log(u) / parameters.y), 1.0f));
  }
};

struct Bernoulli {  // p
  template <typename T>
  static T make(constant long2& state, float2 parameters, uint i) {
    return T(c10::metal::rand(state.x, state.y + long(i)) < parameters.x);
  }
};

template <typename T, typename Distribution>
kernel void distribution(
    device T* result [[buffer(0)]],
    constant float2& parameters [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  result[thread_index] = Distribution::template make<T>(state, parameters, thread_index);
}

template <typename T, typename P>
kernel void bernoulli_of_tensor(
    device T* result [[buffer(0)]],
    const device P* probabilities [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  result[thread_index] = T(c10::metal::rand(state.x, state.y + long(thread_index)) < float(probabilities[thread_index]));
}

// bounds: base, and how many numbers from there on as ulong; 0 means all of 64 bits
template <typename T>
kernel void random_integers(
    device T* result [[buffer(0)]],
    constant long2& bounds [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  const uint4 number = bits(state, thread_index);
  const ulong range = as_type<ulong>(bounds.y);
  ulong value = number.x;
  if (range == 0 || range > 0xfffffffful) value |= ulong(number.y) << 32;
  if (range != 0) value %= range;
  result[thread_index] = T(long(value + as_type<ulong>(bounds.x)));
}

template <typename T>
kernel void dropout(
    device T* result [[buffer(0)]],
    device bool* mask [[buffer(1)]],
    const device T* input [[buffer(2)]],
    constant float2& kept_and_scale [[buffer(3)]],
    constant long2& state [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const bool is_kept = c10::metal::rand(state.x, state.y + long(thread_index)) < kept_and_scale.x;
  mask[thread_index] = is_kept;
  result[thread_index] = T(float(input[thread_index]) * float(is_kept) * kept_and_scale.y);
}

template <typename T>
kernel void dropout_backward(
    device T* result [[buffer(0)]],
    const device T* grad [[buffer(1)]],
    const device bool* mask [[buffer(2)]],
    constant float& scale [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]]) {
  result[thread_index] = T(float(grad[thread_index]) * float(mask[thread_index]) * scale);
}

// The category whose part of the cumulated probabilities has the number. sizes: categories, samples of a row.
kernel void sample_categories(
    device long* result [[buffer(0)]],
    const device float* cumulated [[buffer(1)]],
    constant uint2& sizes [[buffer(2)]],
    constant long2& state [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]]) {
  const device float* row = cumulated + ulong(thread_index / sizes.y) * sizes.x;
  const float total = row[sizes.x - 1];
  const float number = c10::metal::rand(state.x, state.y + long(thread_index)) * total;
  const bool is_last = number >= total;  // rounded up: the first that reaches the total
  uint low = 0, high = sizes.x - 1;
  while (low < high) {
    const uint middle = (low + high) / 2;
    const bool is_after = is_last ? row[middle] < total : row[middle] <= number;
    low = is_after ? middle + 1 : low;
    high = is_after ? high : middle;
  }
  result[thread_index] = low;
}

#define DISTRIBUTION(NAME, STRUCT, T)                                                        \
  template [[host_name(NAME "_" #T)]] kernel void distribution<T, STRUCT>(                   \
      device T*, constant float2&, constant long2&, uint);
#define FLOATING(T)                           \
  DISTRIBUTION("uniform", Uniform, T)         \
  DISTRIBUTION("normal", Normal, T)           \
  DISTRIBUTION("log_normal", LogNormal, T)    \
  DISTRIBUTION("exponential", Exponential, T) \
  DISTRIBUTION("cauchy", Cauchy, T)           \
  template [[host_name("dropout_" #T)]] kernel void dropout<T>(                                             \
      device T*, device bool*, const device T*, constant float2&, constant long2&, uint);                   \
  template [[host_name("dropout_backward_" #T)]] kernel void dropout_backward<T>(                           \
      device T*, const device T*, const device bool*, constant float&, uint);
#define BERNOULLI_OF(T, P)                                                                           \
  template [[host_name("bernoulli_" #T "_" #P)]] kernel void bernoulli_of_tensor<T, P>(              \
      device T*, const device P*, constant long2&, uint);
#define ANY(T)                                                                                       \
  DISTRIBUTION("bernoulli", Bernoulli, T)                                                            \
  BERNOULLI_OF(T, float)                                                                             \
  BERNOULLI_OF(T, half)                                                                              \
  BERNOULLI_OF(T, bfloat)                                                                            \
  template [[host_name("random_" #T)]] kernel void random_integers<T>(                               \
      device T*, constant long2&, constant long2&, uint);
#define NUMBER(T) \
  ANY(T)          \
  DISTRIBUTION("geometric", Geometric, T)

FLOATING(float)
FLOATING(half)
FLOATING(bfloat)
NUMBER(float)
NUMBER(half)
NUMBER(bfloat)
NUMBER(long)
NUMBER(int)
NUMBER(short)
NUMBER(char)
NUMBER(uchar)
NUMBER(ushort)
NUMBER(uint)
NUMBER(ulong)
ANY(bool)
