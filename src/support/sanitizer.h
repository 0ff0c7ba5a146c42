// Is this a build with AddressSanitizer or ThreadSanitizer? GCC and Clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define METALLOID_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define METALLOID_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define METALLOID_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define METALLOID_THREAD_SANITIZER 1
#endif
#endif

// Both reserve far more memory than they use, and end the process where none is left.
#if defined(METALLOID_ADDRESS_SANITIZER) || defined(METALLOID_THREAD_SANITIZER)
#define METALLOID_MEMORY_IS_SHADOWED 1
#endif

// For functions that run while the stack changes under them: their variables must lie on the real stack, plainly.
#if defined(METALLOID_ADDRESS_SANITIZER)
#define METALLOID_UNSANITIZED __attribute__((no_sanitize("address"), noinline))
#else
#define METALLOID_UNSANITIZED
#endif

// For the first lines of a function that a library starts in another thread and ThreadSanitizer does not see into: what
// it was given is read before anything can be observed.
#if defined(METALLOID_THREAD_SANITIZER)
#define METALLOID_BEFORE_OBSERVE __attribute__((no_sanitize("thread")))
#else
#define METALLOID_BEFORE_OBSERVE
#endif

#if defined(METALLOID_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(METALLOID_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace metalloid::support {

// For ThreadSanitizer, where a library that it does not see into orders threads: what came before a publish() happens
// before what follows an observe() of the same object.
inline void publish([[maybe_unused]] void* object) {
#if defined(METALLOID_THREAD_SANITIZER)
  __tsan_release(object);
#endif
}
inline void observe([[maybe_unused]] void* object) {
#if defined(METALLOID_THREAD_SANITIZER)
  __tsan_acquire(object);
#endif
}

}  // namespace metalloid::support
