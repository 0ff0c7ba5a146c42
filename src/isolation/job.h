// One compile: in a process of its own, or under the crash guard of the host.
#pragma once

#include <span>
#include <string_view>

#include "isolation/messages.h"
#include "isolation/serve.h"
#include "support/crash_guard.h"
#include "support/descriptor.h"
#include "support/function_ref.h"

namespace metalloid::isolation {

// Every compile runs in this: on a large stack, for Clang and LLVM recurse as deeply as a source nests; under the crash
// guard, with LLVM's fatal errors as crashes, whose message is kept. `on_crash` runs on the same thread, whose end
// frees memory: the crash may have left the allocator locked, so it must not allocate. Exceptions pass through. Throws
// std::system_error if there is no memory for the stack.
CrashReport run_compiler(
    support::function_ref<void()> work, support::StopToken* stop = nullptr,
    support::function_ref<void(const CrashReport&)> on_crash = [](const CrashReport&) {});

// For a new process: takes the descriptors of an Order behind the first, and ends with an Ending.
[[noreturn]] void run_job(const Order& order, std::span<support::Descriptor> descriptors, Perform perform);

}  // namespace metalloid::isolation
