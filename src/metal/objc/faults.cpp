// The host, and what happens without one when a program does something wrong.
#include <cstdio>
#include <cstdlib>

#include "metalloid/metal/host.h"

namespace metalloid::metal {
namespace {

Host& current() {
  static Host& instance = *new Host;
  return instance;
}

}  // namespace

void set_host(const Host& host) { current() = host; }
const Host& host() { return current(); }

void fail(Fault fault, const std::string& message) {
  if (host().raise_fault) host().raise_fault(fault, message);
  std::fprintf(stderr, "metalloid: failed assertion: %s\n", printable(message).c_str());
  std::abort();
}

}  // namespace metalloid::metal
