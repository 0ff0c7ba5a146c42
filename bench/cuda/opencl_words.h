// OpenCL C's functions as CUDA C++ has them, so that NVIDIA's compiler takes the kernels of bench/opencl; compare.py
// changes the words `kernel`, `global` and `local`, which no macros may be. Vectors and halves are not among them: for
// kernels with these there are files of their own beside this one.
#pragma once

typedef unsigned uint;

#define CLK_LOCAL_MEM_FENCE 0
// OpenCL's sizes of work-groups are attributes, which CUDA's compiler ignores.
#define reqd_work_group_size(x, y, z) unused

#define OF_DIMENSION(name, of) \
  __device__ __forceinline__ uint name(uint d) { return d == 0 ? of(x) : d == 1 ? of(y) : of(z); }
#define LOCAL_ID(d) threadIdx.d
#define GROUP_ID(d) blockIdx.d
#define GLOBAL_ID(d) (blockIdx.d * blockDim.d + threadIdx.d)
#define GLOBAL_SIZE(d) (gridDim.d * blockDim.d)
OF_DIMENSION(get_local_id, LOCAL_ID)
OF_DIMENSION(get_group_id, GROUP_ID)
OF_DIMENSION(get_global_id, GLOBAL_ID)
OF_DIMENSION(get_global_size, GLOBAL_SIZE)

__device__ __forceinline__ void barrier(int) { __syncthreads(); }
__device__ __forceinline__ uint atomic_inc(volatile uint* p) { return atomicAdd(const_cast<uint*>(p), 1u); }
__device__ __forceinline__ uint atomic_add(volatile uint* p, uint value) {
  return atomicAdd(const_cast<uint*>(p), value);
}

// Subgroups of 32 in work-groups of one dimension.
#define __opencl_c_subgroups 1
__device__ __forceinline__ uint get_sub_group_local_id() { return threadIdx.x % 32; }
__device__ __forceinline__ uint get_sub_group_id() { return threadIdx.x / 32; }
__device__ __forceinline__ uint get_num_sub_groups() { return blockDim.x / 32; }
__device__ __forceinline__ float sub_group_reduce_add(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
  return value;
}
