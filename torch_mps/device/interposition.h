// Functions of torch's library that were compiled without the device "mps", and ours in their place.
#pragma once

namespace metalloid::torch_device {

// From now on, loaded libraries that call these functions call ours. Throws std::runtime_error if none of them does, so
// that the device could not work.
void interpose();

}  // namespace metalloid::torch_device
