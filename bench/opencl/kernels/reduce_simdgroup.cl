// With subgroups where the runtime has them, else by a tree in local memory.
#ifdef cl_khr_subgroups
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define HAS_SUBGROUPS
#elif defined(__opencl_c_subgroups)
#define HAS_SUBGROUPS
#endif

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
#if defined(HAS_SUBGROUPS) && defined(cl_intel_required_subgroup_size)
__attribute__((intel_reqd_sub_group_size(32)))
#endif
void reduce_simdgroup(global float* sums, global const float* in) {
  local float scratch[256];
  const uint group = get_group_id(0), thread_index = get_local_id(0);
  float sum = 0;
  for (uint i = 0; i < 8; ++i) sum += in[group * 2048 + i * 256 + thread_index];
#ifdef HAS_SUBGROUPS
  sum = sub_group_reduce_add(sum);
  const uint lane = get_sub_group_local_id();
  if (lane == 0) scratch[get_sub_group_id()] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_sub_group_id() == 0) {
    sum = sub_group_reduce_add(lane < get_num_sub_groups() ? scratch[lane] : 0.0f);
    if (lane == 0) sums[group] = sum;
  }
#else
  scratch[thread_index] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = 128; stride > 0; stride /= 2) {
    if (thread_index < stride) scratch[thread_index] += scratch[thread_index + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (thread_index == 0) sums[group] = scratch[0];
#endif
}
