kernel void mandelbrot(global uint* counts, uint width, float scale, uint limit) {
  const uint column = get_global_id(0), row = get_global_id(1);
  const float c_x = (float)column * scale - 2.0f;
  const float c_y = (float)row * scale - 1.5f;
  float x = 0, y = 0;
  uint count = 0;
  while (count < limit && x * x + y * y <= 4.0f) {
    const float next = x * x - y * y + c_x;
    y = 2.0f * x * y + c_y;
    x = next;
    ++count;
  }
  counts[row * width + column] = count;
}
