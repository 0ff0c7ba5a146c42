#include <cuda_fp16.h>

extern "C" __global__ void half_polynomial(__half* out, const __half* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half x = in[i];
  __half sum = __float2half(0.125f);
  for (unsigned k = 0; k < 16; ++k) sum = __hfma(sum, x, __float2half(0.25f));
  out[i] = sum;
}
