// What Metalloid's runner asks of the device, in C: Python calls it with ctypes, so that nothing here needs Python's
// headers. torch's own bindings ask the hooks.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/ones.h>

#include <exception>
#include <sstream>
#include <string>

#include "fallback.h"
#include "hooks.h"
#include "interposition.h"
#include "streams.h"

using namespace metalloid::torch_device;

namespace {

thread_local std::string text;  // what the last call of this thread returned

}  // namespace

extern "C" {

// Makes "mps" a device of torch. Returns null, or why that is not possible.
__attribute__((visibility("default"))) const char* metalloid_torch_start() {
  try {
    metalloid::Stream::of_process();  // throws if there is no device of the name that was configured
    interpose();
    return nullptr;
  } catch (const std::exception& error) {
    text = error.what();
    return text.c_str();
  }
}

// Autograd's thread for the device wakes the caller of backward() before it lets go of the graph. If that has functions
// of Python in it and the interpreter ends meanwhile, the process aborts. A graph without any, behind it, waits for it.
__attribute__((visibility("default"))) void metalloid_torch_finish_backward() {
  if (!autograd_has_threads()) return;
  try {
    at::AutoGradMode enabled(true);
    auto leaf = at::ones({1}, at::TensorOptions(c10::Device(c10::DeviceType::MPS, 0))).set_requires_grad(true);
    leaf.neg().backward();
  } catch (const std::exception&) {  // the process is about to end
  }
}

__attribute__((visibility("default"))) void metalloid_torch_set_macos_version(unsigned major, unsigned minor) {
  set_macos_version(major, minor);
}

__attribute__((visibility("default"))) std::int64_t metalloid_torch_current_stream() { return current_stream(); }
__attribute__((visibility("default"))) void metalloid_torch_set_current_stream(std::int64_t id) {
  set_current_stream(id);
}

// Lines of an operator's name and how often it ran on the CPU.
__attribute__((visibility("default"))) const char* metalloid_torch_fallbacks() {
  std::ostringstream lines;
  for (const auto& [name, calls] : fallbacks()) lines << name << ' ' << calls << '\n';
  text = lines.str();
  return text.c_str();
}

__attribute__((visibility("default"))) void metalloid_torch_reset_fallbacks() { reset_fallbacks(); }

// Names, one a line.
__attribute__((visibility("default"))) void metalloid_torch_set_operators_of_pytorch(const char* names) {
  std::unordered_set<std::string> set;
  std::istringstream lines(names);
  for (std::string name; std::getline(lines, name);) set.insert(name);
  set_operators_of_pytorch(std::move(set));
}
}
