extern "C" __global__ void nbody(float4* accelerations, const float4* bodies, unsigned count) {
  __shared__ float4 tile[256];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 position = bodies[i];
  float3 acceleration = make_float3(0, 0, 0);
  for (unsigned start = 0; start < count; start += 256) {
    tile[threadIdx.x] = bodies[start + threadIdx.x];
    __syncthreads();
    for (unsigned j = 0; j < 256; ++j) {
      const float4 body = tile[j];
      const float x = body.x - position.x, y = body.y - position.y, z = body.z - position.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f);
      const float weight = body.w * inverse * inverse * inverse;
      acceleration.x += x * weight;
      acceleration.y += y * weight;
      acceleration.z += z * weight;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(acceleration.x, acceleration.y, acceleration.z, 0);
}
