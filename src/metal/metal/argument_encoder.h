// What encodes argument buffers: MTLArgumentEncoder over the layout of a kernel's argument.
#pragma once

#import <Metal/Metal.h>

#include "metalloid/metal/objects.h"

namespace metalloid::metal {

// Of the structure that the kernel takes at a buffer index. None there is a Fault::value.
id<MTLArgumentEncoder> new_argument_encoder(FunctionObject& function, unsigned index);

}  // namespace metalloid::metal
