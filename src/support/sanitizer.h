// Is this an AddressSanitizer build? GCC and Clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define METALLOID_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define METALLOID_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(METALLOID_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
