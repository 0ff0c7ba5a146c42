// Metalloid's errors as PyTorch's.
#pragma once

#include <metalloid/error.h>

namespace metalloid::torch_device {

// SyntaxError for sources, AcceleratorError for kernels that were stopped.
[[noreturn]] void raise(const Error& error);

template <typename Work>
void raising(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    raise(error);
  }
}

// Raises what kernels reported through their error buffer (TORCH_REPORT_ERROR), as a c10::AcceleratorError.
void raise_reported_error();

}  // namespace metalloid::torch_device
