// <sys/sysctl.h>: facts of the machine by their names on a Mac.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
// hw.memsize, hw.ncpu, hw.physicalcpu, hw.logicalcpu, hw.pagesize, machdep.cpu.brand_string, kern.osversion,
// kern.osproductversion; errno is ENOENT for others.
__attribute__((visibility("default"))) int sysctlbyname(const char* name, void* value, size_t* size, void* new_value,
                                                        size_t new_size);
#ifdef __cplusplus
}
#endif
