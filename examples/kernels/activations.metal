// Activations for several element types: a template each, one kernel name per type. The arithmetic is in float whatever
// the element type. [[host_name]] on an explicit instantiation gives it the name that the host asks for.
//
//   gelu  in its tanh form, four elements per thread: the number of elements is a multiple of four, the grid a quarter
//         of it;
//   silu  one element per thread. It checks for the end of the array, so the host may round the grid up.
//
//   metalloid run examples/kernels/activations.metal --kernel gelu_half --threads 250 --group 64
//       --arg out=f16[1000]=zeros --arg in=f16[1000]=normal
#include <metal_stdlib>
using namespace metal;

template <typename T>
[[kernel]] void gelu(device vec<T, 4>* out [[buffer(0)]],
                     device const vec<T, 4>* in [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  const float4 x = float4(in[i]);
  const float4 inner = 0.7978845608f * (x + 0.044715f * x * x * x);  // sqrt(2 / pi)
  // precise:: keeps the float form exact to a few units in the last place, whatever the math mode.
  out[i] = vec<T, 4>(0.5f * x * (1.0f + precise::tanh(inner)));
}

#define instantiate_gelu(name, T)                                       \
  template [[host_name("gelu_" #name)]] [[kernel]] void gelu<T>(        \
      device vec<T, 4>* out [[buffer(0)]],                              \
      device const vec<T, 4>* in [[buffer(1)]],                         \
      uint i [[thread_position_in_grid]]);

instantiate_gelu(float, float)
instantiate_gelu(half, half)
instantiate_gelu(bfloat, bfloat)

// x / (1 + exp(-x)). The exponential of a number that is never positive does not overflow.
template <typename T>
[[kernel]] void silu(device T* out [[buffer(0)]],
                     device const T* in [[buffer(1)]],
                     constant uint& length [[buffer(2)]],
                     uint i [[thread_position_in_grid]]) {
  if (i >= length) {
    return;
  }
  const float x = float(in[i]);
  const float e = exp(-abs(x));
  out[i] = T(x * (x >= 0 ? 1.0f : e) / (1.0f + e));
}

#define instantiate_silu(name, T)                                       \
  template [[host_name("silu_" #name)]] [[kernel]] void silu<T>(        \
      device T* out [[buffer(0)]],                                      \
      device const T* in [[buffer(1)]],                                 \
      constant uint& length [[buffer(2)]],                              \
      uint i [[thread_position_in_grid]]);

instantiate_silu(float, float)
instantiate_silu(half, half)
instantiate_silu(bfloat, bfloat)
