// What encodes argument buffers: MTLArgumentEncoder over the layout of a kernel's argument.
#pragma once

#import <Metal/Metal.h>

#include "host/metal_objects.h"

namespace metalloid::torch_host {

// Of the structure that the kernel takes at a buffer index. Throws c10::ValueError where it takes none.
id<MTLArgumentEncoder> new_argument_encoder(const FunctionObject& function, unsigned index);

}  // namespace metalloid::torch_host
