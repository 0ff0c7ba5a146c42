// Bitwise operators, shifts, greatest common divisors.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/native/BinaryOps.h>
#include <ATen/native/UnaryOps.h>
#include <ATen/native/mps/MetalShaderLibrary.h>

#include <ATen/native/mps/Bitwise_metallib.h>

#include "Elementwise.h"

namespace at::native {

UNARY_STUB(bitwise_not)
BINARY_STUB(bitwise_and)
BINARY_STUB(bitwise_or)
BINARY_STUB(bitwise_xor)
BINARY_STUB_AS(lshift_stub, "bitwise_left_shift")
BINARY_STUB_AS(rshift_stub, "bitwise_right_shift")
BINARY_STUB(gcd)
BINARY_STUB(lcm)

}  // namespace at::native
