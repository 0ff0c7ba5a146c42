kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void histogram(volatile global uint* counts, global const uint* values, uint length) {
  volatile local uint local_counts[256];
  const uint thread_index = get_local_id(0), grid_size = get_global_size(0);
  local_counts[thread_index] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < length; i += grid_size) atomic_inc(&local_counts[values[i] & 255]);
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint count = local_counts[thread_index];
  if (count > 0) atomic_add(&counts[thread_index], count);
}
