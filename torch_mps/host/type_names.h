// Metal's names of PyTorch's element types. As ATen/native/mps/OperationUtils.h declares them, which needs Objective-C.
#pragma once

#include <c10/core/ScalarType.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace at::native::mps {

// "float", "half2", "uchar". Throw c10::TypeError for types that Metal does not have.
std::string_view metal_name(c10::ScalarType scalar_type);
std::string scalarToMetalTypeString(const c10::ScalarType& scalar_type);
// "Float32", or "f32".
std::string getMPSTypeString(c10::ScalarType scalar_type, bool short_name = false);

// "add_dense_float_float" of its parts, those that are not empty. fmt::format, which PyTorch uses, takes seconds to
// compile.
std::string kernel_name(std::initializer_list<std::string_view> parts);

}  // namespace at::native::mps
