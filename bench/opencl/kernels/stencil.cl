kernel void stencil(global float* out, global const float* in, uint size) {
  const uint column = get_global_id(0), row = get_global_id(1);
  const uint i = row * size + column;
  if (column == 0 || row == 0 || column == size - 1 || row == size - 1) {
    out[i] = in[i];
    return;
  }
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] - 4.0f * in[i]);
}
