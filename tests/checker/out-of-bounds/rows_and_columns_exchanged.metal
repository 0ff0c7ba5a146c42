// The index of a row-major image is computed with its height in place of its width.
// CHECK: --threads 32,8 --group 32,8 --arg image=u8[8,32]=arange --arg out=u8[8,32]=zeros --arg size={32,8}
// FINDS: out-of-bounds pixel
#include <metal_stdlib>
using namespace metal;

kernel void invert(device const uchar* image, device uchar* out, constant uint2& size,
                   uint2 p [[thread_position_in_grid]]) {
  const uint right = p.y * size.x + p.x;
#ifdef REPAIRED
  out[right] = 255 - image[right];
#else
  out[right] = 255 - image[p.x * size.x + p.y];  // @pixel
#endif
}
