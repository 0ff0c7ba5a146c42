// The answers of the device to torch's questions about it (at::detail::getMPSHooks).
#pragma once

#include <ATen/detail/MPSHooksInterface.h>

namespace metalloid::torch_device {

const at::MPSHooksInterface& hooks();

// What torch.backends.mps.is_macos_or_newer compares with; 15.0 at first.
void set_macos_version(unsigned major, unsigned minor);

}  // namespace metalloid::torch_device
