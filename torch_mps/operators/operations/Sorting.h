// Sorted rows, for the operators that begin with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace at::native::mps {

// Sorts along the last dimension, stable; dense. Returns keys and indices.
std::pair<Tensor, Tensor> sort_rows(const Tensor& dense, bool descending);

}  // namespace at::native::mps
