// LLVM's fatal errors end the process. Under a crash guard they end only the guarded code, with their message kept.
#pragma once

#include <span>

namespace metalloid::ir {

// From now on LLVM's fatal errors of any thread become SIGABRT without a word on standard error.
void keep_fatal_errors();
// The message of this thread, ending in zero, and forgets it; empty if there is none. Allocates nothing.
void take_fatal_error(std::span<char> message);

// What LLVM calls where it can get no more memory, in place of a fatal error.
void call_when_out_of_memory(void (*function)());

}  // namespace metalloid::ir
