// What changing stacks takes besides Boost.Context: address sanitizer must hear which stack comes next. Between
// announcement and arrival the kernel cannot be stopped, or its view and ours would part.
#pragma once

#include <cstddef>

#include "support/crash_guard.h"
#include "support/sanitizer.h"

namespace metalloid::engines::cpu {

METALLOID_UNSANITIZED inline void announce([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                                           [[maybe_unused]] std::size_t size) {
#if defined(METALLOID_ADDRESS_SANITIZER)
  support::defer_stops(true);
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

METALLOID_UNSANITIZED inline void arrive([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** bottom,
                                         [[maybe_unused]] std::size_t* size) {
#if defined(METALLOID_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fake_stack, bottom, size);
  support::defer_stops(false);
#endif
}

}  // namespace metalloid::engines::cpu
