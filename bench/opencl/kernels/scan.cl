kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan(global uint* out, global uint* totals, global const uint* in) {
  local uint scratch[256];
  const uint i = get_global_id(0), thread_index = get_local_id(0);
  uint sum = in[i];
  scratch[thread_index] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint distance = 1; distance < 256; distance *= 2) {
    const uint other = thread_index >= distance ? scratch[thread_index - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum += other;
    scratch[thread_index] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[i] = sum;
  if (thread_index == 255) totals[get_group_id(0)] = sum;
}
