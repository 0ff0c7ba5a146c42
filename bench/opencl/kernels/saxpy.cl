kernel void saxpy(global float* y, global const float* x, float a) {
  const uint i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
