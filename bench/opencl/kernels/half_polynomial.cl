// In half where the runtime has it, else in float from and to half.
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void half_polynomial(global half* out, global const half* in) {
  const uint i = get_global_id(0);
  const half x = in[i];
  half sum = 0.125h;
  for (uint k = 0; k < 16; ++k) sum = sum * x + 0.25h;
  out[i] = sum;
}
#else
kernel void half_polynomial(global half* out, global const half* in) {
  const uint i = get_global_id(0);
  const float x = vload_half(i, in);
  float sum = 0.125f;
  for (uint k = 0; k < 16; ++k) sum = sum * x + 0.25f;
  vstore_half(sum, i, out);
}
#endif
