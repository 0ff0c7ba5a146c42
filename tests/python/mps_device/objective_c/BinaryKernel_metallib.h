// As Metalloid writes it for BinaryKernel.metal.
static ::at::native::mps::MetalShaderLibrary lib(R"METAL(
#include <c10/metal/indexing.h>
#include <c10/metal/utils.h>
#include <metal_stdlib>
using namespace metal;
using namespace c10::metal;
struct atan2_functor {
  template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true>
  inline T operator()(const T a, const T b) { return static_cast<T>(precise::atan2(float(a), float(b))); }
};
REGISTER_BINARY_OP(atan2, float, float);
REGISTER_BINARY_OP(atan2, half, half);
)METAL");
