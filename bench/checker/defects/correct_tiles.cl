// Nothing is wrong here: tiles with both barriers, a tree of sums, an atomic count.
kernel void correct_tiles(global const uint* x, global uint* out, volatile global uint* total) {
  local uint t[64];
  const uint i = get_global_id(0), thread_index = get_local_id(0);
  uint sum = 0;
  for (uint start = 0; start < 128; start += 64) {
    t[thread_index] = x[start + thread_index];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 64; ++k) sum += t[k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  t[thread_index] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 32; step > 0; step /= 2) {
    if (thread_index < step) t[thread_index] += t[thread_index + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = t[0];
  atomic_add(total, t[0]);
}
