// Tensors that are filled with numbers by a rule, parts of matrices, choices by a condition.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Fill.h>
#include <ATen/native/RangeFactories.h>
#include <ATen/native/TensorCompare.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye_native.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/logspace_native.h>
#include <ATen/ops/masked_fill_native.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/tril_native.h>
#include <ATen/ops/triu_native.h>

#include <array>
#include <cstring>
#include <vector>

#include <ATen/native/mps/Factories_metallib.h>

#include "Elementwise.h"

namespace at::native {
namespace {

// A number as a tensor holds it.
struct Element {
  std::array<char, 8> bytes{};
  size_t size = 0;
};

Element element_of(const Scalar& value, ScalarType type) {
  Element element{{}, c10::elementSize(type)};
  const Tensor one = at::empty({}, TensorOptions(type)).fill_(value);
  std::memcpy(element.bytes.data(), one.const_data_ptr(), element.size);
  return element;
}

template <typename Bind>
void launch(const std::string& name, int64_t threads, const Bind& bind) {
  if (threads == 0) return;
  const auto kernel = lib.getKernelFunction(name);
  kernel->runCommandBlock([&] {
    kernel->startEncoding();
    bind(*kernel);
    kernel->dispatch(static_cast<uint64_t>(threads));
  });
}

// Sizes and then strides of all operands, from a buffer on.
void set_layout(mps::MetalKernelFunction& kernel, unsigned buffer, TensorIteratorBase& iter) {
  constexpr int64_t one = 1;
  const bool none = iter.ndim() == 0;
  kernel.setArg(buffer, none ? IntArrayRef(one) : iter.shape());
  for (int i = 0; i < iter.ntensors(); ++i) {
    kernel.setArg(buffer + 1 + static_cast<unsigned>(i), none ? IntArrayRef(one) : IntArrayRef(iter.strides(i)));
  }
  kernel.setArg(buffer + 1 + static_cast<unsigned>(iter.ntensors()), static_cast<uint32_t>(iter.ndim()));
}

std::string by_size(const char* name, size_t size) { return name + ("_" + std::to_string(size)); }

void fill(TensorIterator& iter, const Scalar& value) {
  const Element element = element_of(value, iter.dtype(0));
  const bool dense = iter.is_contiguous();
  launch(by_size(dense ? "fill_dense" : "fill_strided", element.size), iter.numel(), [&](auto& kernel) {
    kernel.setArg(0, iter.tensor_base(0));
    kernel.setArg(1, element.bytes.data(), element.size);
    if (!dense) set_layout(kernel, 2, iter);
  });
}

void where(TensorIterator& iter) {
  const bool dense = iter.is_contiguous();
  launch(by_size(dense ? "where_dense" : "where_strided", c10::elementSize(iter.dtype(0))), iter.numel(),
         [&](auto& kernel) {
           for (int i = 0; i < 4; ++i) kernel.setArg(static_cast<unsigned>(i), iter.tensor_base(i));
           if (!dense) set_layout(kernel, 4, iter);
         });
}

void arange(TensorIterator& iter, const Scalar& start, const Scalar& /*steps*/, const Scalar& step) {
  const ScalarType type = iter.dtype(0);
  launch("arange_" + mps::scalarToMetalTypeString(type), iter.numel(), [&](auto& kernel) {
    kernel.setArg(0, iter.tensor_base(0));
    if (isIntegralType(type, false)) {
      kernel.setArg(1, start.to<int64_t>());
      return kernel.setArg(2, step.to<int64_t>());
    }
    kernel.setArg(1, start.to<float>());
    kernel.setArg(2, step.to<float>());
  });
}

// As the kernel's struct of this name.
struct LinspaceLimits {
  float start, end, step;
};
// Of whole numbers the limits are whole too, as on the CPU.
LinspaceLimits limits_of(const Scalar& start, const Scalar& end, int64_t steps, ScalarType type) {
  const auto limit = [&](const Scalar& value) {
    return isIntegralType(type, false) ? static_cast<double>(value.to<int64_t>()) : value.to<double>();
  };
  const double low = limit(start), high = steps > 1 ? limit(end) : low;
  const double step = steps > 1 ? (high - low) / static_cast<double>(steps - 1) : 0;
  return {static_cast<float>(low), static_cast<float>(high), static_cast<float>(step)};
}

void linspace(TensorIterator& iter, const Scalar& start, const Scalar& end, int64_t steps) {
  const ScalarType type = iter.dtype(0);
  if (type == kComplexFloat) {
    const auto low = start.to<c10::complex<float>>(), high = end.to<c10::complex<float>>();
    const std::array limits = {low, high, (high - low) / static_cast<float>(std::max<int64_t>(steps - 1, 1))};
    return launch("linspace_complex", iter.numel(), [&](auto& kernel) {
      kernel.setArg(0, iter.tensor_base(0));
      kernel.setArg(1, limits);
      kernel.setArg(2, static_cast<uint32_t>(steps));
    });
  }
  launch("linspace_" + mps::scalarToMetalTypeString(type), iter.numel(), [&](auto& kernel) {
    kernel.setArg(0, iter.tensor_base(0));
    if (isIntegralType(type, false)) {
      kernel.setArg(1, std::array{start.to<int64_t>(), end.to<int64_t>()});
    } else {
      kernel.setArg(1, limits_of(start, end, steps, type));
    }
    kernel.setArg(2, static_cast<uint32_t>(steps));
  });
}

// As the kernel's struct of this name.
struct TriangleShape {
  int64_t rows, columns, diagonal;
  uint32_t ndim;
  bool upper;
};

void triangle(const Tensor& self, int64_t diagonal, bool upper, const Tensor& result) {
  const auto dimensions = static_cast<size_t>(self.dim());
  TORCH_CHECK(dimensions <= 16, "tril, triu: at most 16 dimensions");
  std::array<std::vector<int64_t>, 3> layout;  // sizes, strides of the result and of the input; columns first
  for (size_t i = dimensions; i-- > 0;) {
    const auto at = static_cast<int64_t>(i);
    layout[0].push_back(self.size(at));
    layout[1].push_back(result.stride(at) * result.element_size());
    layout[2].push_back(self.stride(at) * self.element_size());
  }
  const TriangleShape shape = {self.size(-2), self.size(-1), diagonal, static_cast<uint32_t>(dimensions), upper};
  launch(by_size("triangle", static_cast<size_t>(self.element_size())), self.numel(), [&](auto& kernel) {
    kernel.setArg(0, result);
    kernel.setArg(1, self);
    kernel.setArg(2, shape);
    for (unsigned i = 0; i < 3; ++i) kernel.setArg(3 + i, layout[i]);
  });
}

}  // namespace

REGISTER_MPS_DISPATCH(fill_stub, &fill)
REGISTER_MPS_DISPATCH(where_kernel, &where)
REGISTER_MPS_DISPATCH(arange_stub, &arange)
REGISTER_MPS_DISPATCH(linspace_stub, &linspace)

TORCH_IMPL_FUNC(tril_mps_out)(const Tensor& self, int64_t diagonal, const Tensor& result) {
  triangle(self, diagonal, false, result);
}
TORCH_IMPL_FUNC(triu_mps_out)(const Tensor& self, int64_t diagonal, const Tensor& result) {
  triangle(self, diagonal, true, result);
}

Tensor& eye_out_mps(int64_t rows, int64_t columns, Tensor& result) {
  TORCH_CHECK(rows >= 0, "n must be greater or equal to 0, got ", rows);
  TORCH_CHECK(columns >= 0, "m must be greater or equal to 0, got ", columns);
  result.resize_({rows, columns});
  result.zero_();
  launch("eye_" + mps::scalarToMetalTypeString(result.scalar_type()), std::min(rows, columns), [&](auto& kernel) {
    kernel.setArg(0, result);
    kernel.setArg(1, std::array{result.stride(0), result.stride(1)});
  });
  return result;
}
Tensor& eye_out_mps(int64_t rows, Tensor& result) { return eye_out_mps(rows, rows, result); }

Tensor& logspace_out_mps(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& result) {
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  if (result.numel() != steps) result.resize_({steps});
  const ScalarType type = result.scalar_type();
  if (isComplexType(type)) {
    at::linspace_out(result, start, end, steps);
    return at::pow_out(result, Scalar(base), result);
  }
  Tensor dense = result.is_contiguous() ? result : at::empty({steps}, result.options());
  launch("logspace_" + mps::scalarToMetalTypeString(type), steps, [&](auto& kernel) {
    kernel.setArg(0, dense);
    kernel.setArg(1, limits_of(start, end, steps, type));
    kernel.setArg(2, static_cast<float>(base));
    kernel.setArg(3, static_cast<uint32_t>(steps));
  });
  if (!dense.is_same(result)) result.copy_(dense);
  return result;
}

Tensor& masked_fill__mps(Tensor& self, const Tensor& mask, const Scalar& value) {
  TORCH_CHECK(mask.scalar_type() == kBool, "masked_fill_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
  TORCH_CHECK(self.device() == mask.device() || mask.dim() == 0,
              "expected self and mask to be on the same device, but got mask on ", mask.device(), " and self on ",
              self.device());
  at::assert_no_internal_overlap(self);
  at::assert_no_partial_overlap(self, mask);
  const Element element = element_of(value, self.scalar_type());
  const Tensor everywhere = mask.to(self.device()).expand_as(self);
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(self)
                  .add_const_input(everywhere)
                  .build();
  launch(by_size("masked_fill", element.size), iter.numel(), [&](auto& kernel) {
    kernel.setArg(0, iter.tensor_base(0));
    kernel.setArg(1, iter.tensor_base(1));
    kernel.setArg(2, element.bytes.data(), element.size);
    set_layout(kernel, 3, iter);
  });
  return self;
}
Tensor& masked_fill__mps(Tensor& self, const Tensor& mask, const Tensor& value) {
  TORCH_CHECK(value.dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  return masked_fill__mps(self, mask, value.item());
}

}  // namespace at::native
