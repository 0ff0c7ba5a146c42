// <mach/mach.h>: the words that host code of kernels uses.
#pragma once

#include <mach/mach_time.h>
#include <mach/vm_page_size.h>
#include <stdint.h>

typedef int kern_return_t;
typedef unsigned int mach_port_t;
typedef mach_port_t task_id_token_t;
typedef mach_port_t vm_map_t;
typedef uintptr_t vm_address_t;
typedef uintptr_t vm_size_t;
#define KERN_SUCCESS 0
#define KERN_NO_SPACE 3
#define VM_FLAGS_ANYWHERE 1

#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) mach_port_t mach_task_self(void);
// Whole pages of the process's own memory.
__attribute__((visibility("default"))) kern_return_t vm_allocate(vm_map_t task, vm_address_t* address, vm_size_t size,
                                                                 int flags);
__attribute__((visibility("default"))) kern_return_t vm_deallocate(vm_map_t task, vm_address_t address, vm_size_t size);
#ifdef __cplusplus
}
#endif
