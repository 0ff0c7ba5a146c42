#include <metal_stdlib>
using namespace metal;

kernel void mandelbrot(device uint* counts, constant uint& width, constant float& scale, constant uint& limit,
                       uint2 position [[thread_position_in_grid]]) {
  const float c_x = float(position.x) * scale - 2.0f;
  const float c_y = float(position.y) * scale - 1.5f;
  float x = 0, y = 0;
  uint count = 0;
  while (count < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + c_x;
    y = 2.0f * x * y + c_y;
    x = next;
    ++count;
  }
  counts[position.y * width + position.x] = count;
}
