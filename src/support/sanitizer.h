// Is this an AddressSanitizer build? GCC and Clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define METALLOID_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define METALLOID_ADDRESS_SANITIZER 1
#endif
#endif

// For functions that run while the stack changes under them: their variables must lie on the real stack, plainly.
#if defined(METALLOID_ADDRESS_SANITIZER)
#define METALLOID_UNSANITIZED __attribute__((no_sanitize("address"), noinline))
#else
#define METALLOID_UNSANITIZED
#endif

#if defined(METALLOID_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
