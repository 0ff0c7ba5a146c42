// A struct has room for the strides of four dimensions; the array has five.
// CHECK: --threads 8 --group 8 --arg x=f32[8]=arange --arg out=f32[8]=zeros --arg p={5,{1,1,1,1},{0,0,0,0}}
// CHECK REPAIRED: --threads 8 --group 8 --arg x=f32[8]=arange --arg out=f32[8]=zeros --arg p={4,{1,1,1,1},{0,0,0,0}}
// FINDS: out-of-bounds stride
#include <metal_stdlib>
using namespace metal;

struct Layout {
  uint dimensions;
  uint strides[4];
};
struct Params {
  uint dimensions;
  uint strides[4];
  uint unused[4];
};

uint place(Layout layout, uint i) {
  uint at = 0;
  for (uint d = 0; d < layout.dimensions; ++d) {
    at += (i >> d & 1) * layout.strides[d] << d;  // @stride
  }
  return at;
}

kernel void reorder(device const float* x, device float* out, constant Params& p,
                    uint i [[thread_position_in_grid]]) {
  Layout layout;
  layout.dimensions = p.dimensions;
  for (uint d = 0; d < 4; ++d) layout.strides[d] = p.strides[d];
  out[i] = x[place(layout, i) % 8];
}
