// copy_ within the device can be given a kernel by the operators, which are loaded later.
#pragma once

#include <ATen/core/Tensor.h>

namespace metalloid::torch_device {

// Copies what has the shape of the target, or can be expanded to it; false: not between these types.
using CopyKernel = bool (*)(const at::Tensor& target, const at::Tensor& source);

__attribute__((visibility("default"))) void set_copy_kernel(CopyKernel kernel);

}  // namespace metalloid::torch_device
