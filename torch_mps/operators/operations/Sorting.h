// Sorted rows, for the operators that begin with them.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

namespace at::native::mps {

// Sorts along the last dimension, stable; dense. Returns keys and indices: the given ones, where the last step went
// there.
std::pair<Tensor, Tensor> sort_rows(const Tensor& dense, bool descending, Tensor keys = {}, Tensor indices = {});

// With the dimension last, dense.
Tensor rows_of(const Tensor& self, int64_t dim);
// A result that rows of `self` can be written to as they are, or nothing.
Tensor as_rows(const Tensor& result, const Tensor& self, int64_t dim);
// To a result whose dimension they go along; nothing if they are the result.
void copy_rows(const Tensor& result, const Tensor& rows, int64_t dim);

}  // namespace at::native::mps
