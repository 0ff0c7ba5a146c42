// Rows of values times rows of weights that are kept as 4 or 8 bits. A thread computes one element.
#include <metal_stdlib>

using namespace metal;

struct PackedWeightsParams {
  int rows, columns, inner;  // of the result, and what is summed over
  int group;                 // so many weights of a row share scale and zero
};

// A weight is (bits - 8) * scale + zero; the first of two is in the upper bits.
template <typename T>
kernel void int4pack_mm(device T* result [[buffer(0)]], device const T* values [[buffer(1)]],
                        device const uchar* weights [[buffer(2)]], device const T* scales_and_zeros [[buffer(3)]],
                        constant PackedWeightsParams& params [[buffer(4)]], uint2 place [[thread_position_in_grid]]) {
  values += long(place.y) * params.inner;
  weights += long(place.x) * (params.inner / 2);
  float sum = 0;
  for (int begin = 0; begin < params.inner; begin += params.group) {
    device const T* both = scales_and_zeros + 2 * (long(begin / params.group) * params.columns + place.x);
    float scaled = 0, unscaled = 0;
    for (int k = begin; k < begin + params.group; k += 2) {
      const uchar pair = weights[k / 2];
      const float first = values[k], second = values[k + 1];
      scaled += first * (int(pair >> 4) - 8) + second * (int(pair & 15) - 8);
      unscaled += first + second;
    }
    sum += scaled * float(both[0]) + unscaled * float(both[1]);
  }
  result[long(place.y) * params.columns + place.x] = T(sum);
}

template <typename T>
kernel void int8pack_mm(device T* result [[buffer(0)]], device const T* values [[buffer(1)]],
                        device const char* weights [[buffer(2)]], device const T* scales [[buffer(3)]],
                        constant PackedWeightsParams& params [[buffer(4)]], uint2 place [[thread_position_in_grid]]) {
  values += long(place.y) * params.inner;
  weights += long(place.x) * params.inner;
  float sum = 0;
  for (int k = 0; k < params.inner; ++k) sum += float(values[k]) * weights[k];
  result[long(place.y) * params.columns + place.x] = T(sum * float(scales[place.x]));
}

#define PACKED_WEIGHTS(T)                                                                                      \
  template [[host_name("int4pack_mm_" #T)]] kernel void int4pack_mm<T>(                                        \
      device T*, device const T*, device const uchar*, device const T*, constant PackedWeightsParams&, uint2); \
  template [[host_name("int8pack_mm_" #T)]] kernel void int8pack_mm<T>(                                        \
      device T*, device const T*, device const char*, device const T*, constant PackedWeightsParams&, uint2);
PACKED_WEIGHTS(float) PACKED_WEIGHTS(half) PACKED_WEIGHTS(bfloat)
