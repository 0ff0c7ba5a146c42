// Element types that only tensors have. metal_stdlib names them, <metal_tensor> gives them a meaning.
#ifndef METALLOID_TENSOR_FORMATS_H
#define METALLOID_TENSOR_FORMATS_H

namespace metal {

// Signed and unsigned integers of 4 bits.
struct int4b_format;
struct uint4b_format;

}  // namespace metal

#endif
