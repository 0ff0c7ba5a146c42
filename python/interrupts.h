// Ctrl-C while kernels run: Python's own handler only takes note, and would be asked when the kernel has ended.
#pragma once

namespace metalloid_python {

// While one lives, SIGINT also stops the kernels that run, if the process handles that signal at all. May be used in
// any thread, without the GIL. What Python's handler raises takes the place of the kernel's error (core.cpp).
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

}  // namespace metalloid_python
