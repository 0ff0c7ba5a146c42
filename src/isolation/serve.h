// The compiler's process: waits for orders of its host and starts a process of its own for each.
#pragma once

#include <string>
#include <string_view>

namespace metalloid::isolation {

// Takes a request to its response. Throws Error.
using Perform = std::string (*)(std::string_view request, std::string_view attachment);

// Serves until the host closes the socket, which also ends what still compiles, or wants nothing for a while: the
// process is a child of the host, which may wait until it has none. For a process with one thread, which starts fresh
// ones by fork: a job finds all that was prepared, and leaves nothing behind.
void serve(int host, Perform perform);

}  // namespace metalloid::isolation
