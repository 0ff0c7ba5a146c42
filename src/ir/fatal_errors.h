// LLVM's fatal errors end the process. Under a crash guard they end only the guarded code, with their message kept.
#pragma once

#include <string>

namespace metalloid::ir {

// From now on LLVM's fatal errors of any thread become SIGABRT without a word on standard error.
void keep_fatal_errors();
// The last message of any thread, and forgets it.
std::string take_fatal_error();

}  // namespace metalloid::ir
