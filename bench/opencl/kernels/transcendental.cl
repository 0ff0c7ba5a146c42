kernel void transcendental(global float* out, global const float* in) {
  const uint i = get_global_id(0);
  const float x = in[i];
  out[i] = sin(x) * exp(-x) + log(x + 1.0f) * tanh(x) + cos(x) * sqrt(x) + pow(x, 1.5f);
}
