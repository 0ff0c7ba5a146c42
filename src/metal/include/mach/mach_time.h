// <mach/mach_time.h>: a clock that only goes forward.
#pragma once

#include <stdint.h>

typedef struct mach_timebase_info {
  uint32_t numer, denom;
} mach_timebase_info_data_t, *mach_timebase_info_t;

#ifdef __cplusplus
extern "C" {
#endif
// In nanoseconds.
__attribute__((visibility("default"))) uint64_t mach_absolute_time(void);
__attribute__((visibility("default"))) int mach_timebase_info(mach_timebase_info_t info);
#ifdef __cplusplus
}
#endif
