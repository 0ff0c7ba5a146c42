// Random numbers. A thread makes several elements of one Philox number of the generator's seed, the one at the generator's
// offset + its index, so results do not depend on how the grid runs.
#include <c10/metal/random.h>
#include <metal_stdlib>

using namespace metal;

constant uint from_one_number = 4;  // elements

// In [0, 1).
inline float uniform_of(uint bits) { return min(c10::metal::detail::uint32_to_uniform_float(bits), 0x1.fffffep-1f); }
inline float4 uniform_of(uint4 bits) {
  return float4(uniform_of(bits.x), uniform_of(bits.y), uniform_of(bits.z), uniform_of(bits.w));
}
inline float4 normal_of(uint4 bits) {
  return float4(c10::metal::box_muller_from_philox(bits.xy), c10::metal::box_muller_from_philox(bits.zw));
}

// state: seed, offset
inline float uniform_at(constant long2& state, uint thread_index) {
  return uniform_of(c10::metal::philox4::rand(state.x, state.y + long(thread_index)).x);
}

struct FromUniform {
  static float4 draw(uint4 bits) { return uniform_of(bits); }
};
struct FromNormal {
  static float4 draw(uint4 bits) { return normal_of(bits); }
};

struct Uniform : FromUniform {  // from, to; `to` is excluded, also after rounding to T
  template <typename T>
  static T make(float drawn, float2 parameters) {
    const T value = T(drawn * (parameters.y - parameters.x) + parameters.x);
    return value == T(parameters.y) ? T(parameters.x) : value;
  }
};

struct Normal : FromNormal {  // mean, standard deviation
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(drawn * parameters.y + parameters.x);
  }
};

struct LogNormal : FromNormal {
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(precise::exp(drawn * parameters.y + parameters.x));
  }
};

struct Exponential : FromUniform {  // lambda; greater than zero, whoever divides by it
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(max(-precise::log(1.0f - drawn), 0x1p-25f) / parameters.x);
  }
};

struct Cauchy : FromUniform {  // median, sigma
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(parameters.x + parameters.y * precise::tan(M_PI_F * (drawn - 0.5f)));
  }
};

struct Geometric : FromUniform {  // p, log(1 - p)
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(max(ceil(precise::log(1.0f - drawn) / parameters.y), 1.0f));
  }
};

struct Bernoulli : FromUniform {  // p
  template <typename T>
  static T make(float drawn, float2 parameters) {
    return T(drawn < parameters.x);
  }
};

template <typename T, typename Distribution>
kernel void distribution(
    device T* result [[buffer(0)]],
    constant float2& parameters [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    constant uint& count [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]]) {
  const float4 drawn = Distribution::draw(c10::metal::philox4::rand(state.x, state.y + long(thread_index)));
  const uint first = thread_index * from_one_number, here = min(from_one_number, count - first);
  for (uint i = 0; i < here; ++i) result[first + i] = Distribution::template make<T>(drawn[i], parameters);
}

template <typename T, typename P>
kernel void bernoulli_of_tensor(
    device T* result [[buffer(0)]],
    const device P* probabilities [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  result[thread_index] = T(uniform_at(state, thread_index) < float(probabilities[thread_index]));
}

// bounds: base, and how many numbers from there on as ulong; 0 means all of 64 bits.
// sizes: elements, and how many of them a thread makes: 4 of 32 bits each, or 2 of 64.
template <typename T>
kernel void random_integers(
    device T* result [[buffer(0)]],
    constant long2& bounds [[buffer(1)]],
    constant long2& state [[buffer(2)]],
    constant uint2& sizes [[buffer(3)]],
    uint thread_index [[thread_position_in_grid]]) {
  const uint4 bits = c10::metal::philox4::rand(state.x, state.y + long(thread_index));
  const ulong range = as_type<ulong>(bounds.y);
  const bool is_wide = sizes.y == 2;
  const uint first = thread_index * sizes.y, here = min(sizes.y, sizes.x - first);
  for (uint i = 0; i < here; ++i) {
    ulong value = is_wide ? ulong(bits[2 * i]) | ulong(bits[2 * i + 1]) << 32 : ulong(bits[i]);
    if (range != 0) value %= range;
    result[first + i] = T(long(value + as_type<ulong>(bounds.x)));
  }
}

template <typename T>
kernel void dropout(
    device T* result [[buffer(0)]],
    device bool* mask [[buffer(1)]],
    const device T* input [[buffer(2)]],
    constant float2& kept_and_scale [[buffer(3)]],
    constant long2& state [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const bool is_kept = uniform_at(state, thread_index) < kept_and_scale.x;
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
  const float number = uniform_at(state, thread_index) * total;
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
      device T*, constant float2&, constant long2&, constant uint&, uint);
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
      device T*, constant long2&, constant long2&, constant uint2&, uint);
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
