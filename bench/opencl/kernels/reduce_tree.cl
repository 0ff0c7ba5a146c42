kernel __attribute__((reqd_work_group_size(256, 1, 1))) void reduce_tree(global float* sums, global const float* in) {
  local float scratch[256];
  const uint group = get_group_id(0), thread_index = get_local_id(0);
  float sum = 0;
  for (uint i = 0; i < 8; ++i) sum += in[group * 2048 + i * 256 + thread_index];
  scratch[thread_index] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 128; stride > 0; stride /= 2) {
    if (thread_index < stride) scratch[thread_index] += scratch[thread_index + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread_index == 0) sums[group] = scratch[0];
}
