// Barriers, fences and the enumerations that say what they order (MSL spec §6.9.1, §6.15).
#ifndef METALLOID_SYNCHRONIZATION_H
#define METALLOID_SYNCHRONIZATION_H

#include <metalloid/types.h>

#define __METAL_MEMORY_SCOPE_THREAD__ 0
#define __METAL_MEMORY_SCOPE_THREADGROUP__ 1
#define __METAL_MEMORY_SCOPE_DEVICE__ 2
// 3 is the system's, for which sources define __METAL_MEMORY_SCOPE_SYSTEM__ and thread_scope_system if it is not there.
#define __METAL_MEMORY_SCOPE_SIMDGROUP__ 4

namespace __metalloid {
// The numbers are those of metal::mem_flags, memory_order and thread_scope.
__attribute__((convergent)) void threadgroup_barrier(int flags, int order,
                                                     int scope) __asm("metalloid.threadgroup_barrier");
__attribute__((convergent)) void simdgroup_barrier(int flags, int order,
                                                   int scope) __asm("metalloid.simdgroup_barrier");
void fence(int flags, int order, int scope) __asm("metalloid.fence");
}  // namespace __metalloid

namespace metal {

enum mem_flags : int {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8,
  mem_object_data = 16
};
METALLOID_FUNC constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
METALLOID_FUNC constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(int(a) & int(b)); }

enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};

enum thread_scope : int {
  thread_scope_thread = __METAL_MEMORY_SCOPE_THREAD__,
  thread_scope_simdgroup = __METAL_MEMORY_SCOPE_SIMDGROUP__,
  thread_scope_threadgroup = __METAL_MEMORY_SCOPE_THREADGROUP__,
  thread_scope_device = __METAL_MEMORY_SCOPE_DEVICE__
};

// Without an order, barriers acquire and release.
METALLOID_FUNC void threadgroup_barrier(mem_flags flags, memory_order order = memory_order_acq_rel,
                                        thread_scope scope = thread_scope_threadgroup) {
  __metalloid::threadgroup_barrier(flags, order, scope);
}
METALLOID_FUNC void simdgroup_barrier(mem_flags flags, memory_order order = memory_order_acq_rel,
                                      thread_scope scope = thread_scope_simdgroup) {
  __metalloid::simdgroup_barrier(flags, order, scope);
}

METALLOID_FUNC void atomic_thread_fence(mem_flags flags, memory_order order, thread_scope scope = thread_scope_device) {
  __metalloid::fence(flags, order, scope);
}

}  // namespace metal

// What the front end calls after `threadgroup T variable = {0};`. Every thread writes the same zeros.
template <typename T>
METALLOID_FUNC void __metalloid_zero_threadgroup(threadgroup T& variable) {
  __builtin_memset(&variable, 0, sizeof(T));
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}

#endif
