// Other Python threads go on while this one compiles or runs kernels.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

namespace metalloid_python {

// Without the GIL while it lives. When the interpreter is ending, Python before 3.14 ends daemon threads that come back
// by unwinding their stack, and that must not leave a destructor: such a thread waits here for the process to end.
class GilRelease {
 public:
  GilRelease() : thread_(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(thread_);
    } catch (const abi::__forced_unwind&) {
      while (true) ::pause();
    }
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* thread_;
};

}  // namespace metalloid_python
