kernel void copy(device float* out, device const float* in, uint i [[thread_position_in_grid]]) { out[i] = in[i]; }
