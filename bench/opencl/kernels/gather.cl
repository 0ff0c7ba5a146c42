kernel void gather(global float* out, global const float* table, global const uint* indices) {
  const uint i = get_global_id(0);
  out[i] = table[indices[i]];
}
