// Reads four floats at once from where any of them begins.
kernel void misaligned_vector(global const float* x, global float* out) {
  const uint i = get_global_id(0);
  out[i] = dot(*(global const float4*)(x + i), (float4)(1));  // wrong
}
