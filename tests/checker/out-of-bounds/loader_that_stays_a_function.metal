// A loader keeps its address in a struct and is moved on by functions that stay calls: the last step is behind the end.
// CHECK: --threads 32 --group 32 --arg x=f32[256]=arange --arg other=f32[256]=zeros --arg out=f32[32]=zeros --arg steps=8
// FINDS: out-of-bounds read
#include <metal_stdlib>
using namespace metal;

struct Loader {
  device const float* from;
  uint stride;
};

__attribute__((noinline)) float take(thread Loader& loader) {
  const float value = *loader.from;  // @read
  loader.from += loader.stride;
  return value;
}

__attribute__((noinline)) Loader begin(device const float* x, uint i, uint stride) { return {x + i, stride}; }

kernel void sums(device const float* x, device const float* other, device float* out, constant uint& steps,
                 uint i [[thread_position_in_grid]]) {
  Loader loader = begin(x, i, 32);
  float sum = other == nullptr || loader.from == other + i ? 1 : 0;
#ifdef REPAIRED
  for (uint k = 0; k < steps; ++k) sum += take(loader);
#else
  for (uint k = 0; k <= steps; ++k) sum += take(loader);
#endif
  out[i] = sum;
}
