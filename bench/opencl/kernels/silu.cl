kernel void silu(global float* out, global const float* in) {
  const uint i = get_global_id(0);
  const float x = in[i];
  out[i] = x / (1.0f + exp(-x));
}
