// Blocks of images as columns (im2col), and sums of such columns at their places (col2im).
#include <c10/metal/utils.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::opmath_t;

// Strides count elements: images batch, channel, height, width; columns batch, row, column.
struct FoldParams {
  long image[4], columns[3];
  int sizes[2], blocks[2];  // of an image and of the grid of its blocks
  int kernel_size[2], stride[2], padding[2], dilation[2];
  int channels;
};

// x: block, y: place in the kernel and channel, z: batch.
template <typename T>
kernel void im2col(device T* columns [[buffer(0)]], device const T* image [[buffer(1)]],
                   constant FoldParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int block = place.x, row = place.y;
  const int kx = row % params.kernel_size[1], ky = row / params.kernel_size[1] % params.kernel_size[0];
  const int channel = row / params.kernel_size[1] / params.kernel_size[0];
  const int y = block / params.blocks[1] * params.stride[0] - params.padding[0] + ky * params.dilation[0];
  const int x = block % params.blocks[1] * params.stride[1] - params.padding[1] + kx * params.dilation[1];
  T value(0);
  if (y >= 0 && y < params.sizes[0] && x >= 0 && x < params.sizes[1]) {
    value = image[place.z * params.image[0] + channel * params.image[1] + y * params.image[2] + x * params.image[3]];
  }
  columns[place.z * params.columns[0] + row * params.columns[1] + block * params.columns[2]] = value;
}

// x: width, y: height, z: channel and batch.
template <typename T>
kernel void col2im(device T* image [[buffer(0)]], device const T* columns [[buffer(1)]],
                   constant FoldParams& params [[buffer(2)]], uint3 place [[thread_position_in_grid]]) {
  const int batch = place.z / params.channels, channel = place.z % params.channels;
  columns += batch * params.columns[0];
  opmath_t<T> sum(0);
  for (int ky = 0; ky < params.kernel_size[0]; ++ky) {
    const int y = int(place.y) + params.padding[0] - ky * params.dilation[0];
    if (y < 0 || y % params.stride[0] != 0 || y / params.stride[0] >= params.blocks[0]) continue;
    for (int kx = 0; kx < params.kernel_size[1]; ++kx) {
      const int x = int(place.x) + params.padding[1] - kx * params.dilation[1];
      if (x < 0 || x % params.stride[1] != 0 || x / params.stride[1] >= params.blocks[1]) continue;
      const long row = (long(channel) * params.kernel_size[0] + ky) * params.kernel_size[1] + kx;
      const long block = long(y / params.stride[0]) * params.blocks[1] + x / params.stride[1];
      sum += opmath_t<T>(columns[row * params.columns[1] + block * params.columns[2]]);
    }
  }
  image[batch * params.image[0] + channel * params.image[1] + place.y * params.image[2] + place.x * params.image[3]] =
      T(sum);
}

#define FOLD(T)                                                                                                   \
  template [[host_name("im2col_" #T)]] kernel void im2col<T>(device T*, device const T*, constant FoldParams&, uint3); \
  template [[host_name("col2im_" #T)]] kernel void col2im<T>(device T*, device const T*, constant FoldParams&, uint3);
FOLD(float) FOLD(half) FOLD(bfloat) FOLD(float2) FOLD(half2)
FOLD(long) FOLD(int) FOLD(short) FOLD(char) FOLD(uchar) FOLD(bool)
