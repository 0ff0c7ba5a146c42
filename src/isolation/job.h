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

// On a large stack, for Clang and LLVM recurse as deeply as a source nests; LLVM's fatal errors become crashes.
support::GuardOutcome run_compiler(support::function_ref<void()> work, support::StopToken* stop = nullptr);

// For a new process: takes the descriptors of an Order behind the first, and ends with an Ending.
[[noreturn]] void run_job(const Order& order, std::span<support::Descriptor> descriptors, Perform perform);

}  // namespace metalloid::isolation
