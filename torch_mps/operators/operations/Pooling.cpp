// Max, average and adaptive pooling, and their gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/Pool.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_adaptive_avg_pool2d_backward_native.h>
#include <ATen/ops/_adaptive_avg_pool2d_native.h>
#include <ATen/ops/_adaptive_avg_pool3d_backward_native.h>
#include <ATen/ops/_adaptive_avg_pool3d_native.h>
#include <ATen/ops/adaptive_avg_pool2d_native.h>
#include <ATen/ops/adaptive_max_pool2d_backward_native.h>
#include <ATen/ops/adaptive_max_pool2d_native.h>
#include <ATen/ops/adaptive_max_pool3d_backward_native.h>
#include <ATen/ops/adaptive_max_pool3d_native.h>
#include <ATen/ops/avg_pool2d_backward_native.h>
#include <ATen/ops/avg_pool2d_native.h>
#include <ATen/ops/avg_pool3d_backward_native.h>
#include <ATen/ops/avg_pool3d_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max_pool2d_with_indices_backward_native.h>
#include <ATen/ops/max_pool2d_with_indices_native.h>
#include <ATen/ops/max_pool3d_with_indices_backward_native.h>
#include <ATen/ops/max_pool3d_with_indices_native.h>

#include <ATen/native/mps/Pooling_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

using metalloid::operators::as_volume;
using metalloid::operators::for_volume;

struct PoolingParams {
  std::int64_t input[5], output[5], indices[5];
  int input_sizes[3], output_sizes[3];
  int kernel_size[3], stride[3], padding[3], dilation[3];
  int channels;
  int is_adaptive, count_include_pad;
  std::int64_t divisor;
};

void set(int (&to)[3], const std::array<int, 3>& from) { std::copy(from.begin(), from.end(), to); }

// Windows that slide. Without a stride it is their size.
PoolingParams sliding(std::int64_t space, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation) {
  PoolingParams params{};
  set(params.kernel_size, for_volume(kernel_size, space, 1));
  set(params.stride, for_volume(stride.empty() ? kernel_size : stride, space, 1));
  set(params.padding, for_volume(padding, space, 0));
  set(params.dilation, for_volume(dilation, space, 1));
  return params;
}

PoolingParams averages(std::int64_t space, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                       bool count_include_pad, std::optional<std::int64_t> divisor) {
  TORCH_CHECK(!divisor || *divisor != 0, "divisor must be not zero");
  PoolingParams params = sliding(space, kernel_size, stride, padding, {1});
  params.count_include_pad = count_include_pad;
  params.divisor = divisor.value_or(0);
  return params;
}

PoolingParams adaptive() {
  PoolingParams params{};
  params.is_adaptive = 1;
  return params;
}

void set_volumes(PoolingParams& params, const Tensor& input, const Tensor& output) {
  std::copy_n(input.strides().begin(), 5, params.input);
  std::copy_n(output.strides().begin(), 5, params.output);
  for (int axis = 0; axis < 3; ++axis) {
    params.input_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.output_sizes[axis] = static_cast<int>(output.size(axis + 2));
  }
  params.channels = static_cast<int>(input.size(1));
}

// Runs a kernel with a thread for each element of `result`, which is the input's or the output's side.
void pool(const char* kernel, PoolingParams params, std::int64_t space, const Tensor& result, const Tensor& read,
          bool is_backward, const Tensor& indices = {}) {
  const Tensor result_volume = as_volume(result, space), read_volume = as_volume(read, space);
  const Tensor& input = is_backward ? result_volume : read_volume;
  const Tensor& output = is_backward ? read_volume : result_volume;
  const std::string name = kernel + std::string("_") + metalloid::operators::metal_type(result.scalar_type(), kernel);
  if (result.numel() == 0) return;
  set_volumes(params, input, output);
  const metalloid::operators::Extent threads = {
      static_cast<std::uint64_t>(result_volume.size(4)),
      static_cast<std::uint64_t>(result_volume.size(2) * result_volume.size(3)),
      static_cast<std::uint64_t>(result_volume.size(0) * result_volume.size(1))};
  const auto group = metalloid::operators::group_for(threads);
  if (indices.defined()) {
    const Tensor volume = as_volume(indices, space);
    std::copy_n(volume.strides().begin(), 5, params.indices);
    metalloid::operators::run(lib, name, threads, group, result, read, indices, params);
  } else {
    metalloid::operators::run(lib, name, threads, group, result, read, params);
  }
}

void average_windows(PoolingParams params, std::int64_t space, const Tensor& output, const Tensor& input) {
  const Tensor from = as_volume(input, space), to = as_volume(output, space);
  const int step = params.stride[2];
  const bool lies_in_rows = from.stride(4) == 1 && to.stride(4) == 1 && to.size(4) > 8;
  if (params.is_adaptive || step > 2 || !lies_in_rows || !isFloatingType(output.scalar_type())) {
    pool("avg_pool", params, space, output, input, false);
    return;
  }
  const std::string name = "avg_pool_rows_" + std::to_string(step);
  set_volumes(params, from, to);
  constexpr std::int64_t rows_at_once = 16;  // as in the kernel
  const std::int64_t rows = to.size(2) * to.size(3);
  metalloid::operators::run(lib, name + "_" + metalloid::operators::metal_type(output.scalar_type(), "avg_pool"),
                            {32, static_cast<std::uint64_t>((rows + rows_at_once - 1) / rows_at_once),
                             static_cast<std::uint64_t>(to.size(0) * to.size(1))},
                            {32, 1, 1}, output, input, params);
}

void check_adaptive(const Tensor& input, IntArrayRef output_size, std::int64_t space, const char* name) {
  TORCH_CHECK(static_cast<std::int64_t>(output_size.size()) == space, name, ": output_size must be ", space);
  TORCH_CHECK(input.dim() == space + 1 || input.dim() == space + 2, name, "(): Expected ", space + 1, "D or ",
              space + 2, "D tensor, but got ", input.sizes());
  for (std::int64_t axis = input.dim() - space; axis < input.dim(); ++axis) {
    TORCH_CHECK(input.size(axis) > 0, name,
                "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
                input.sizes(), " with dimension ", axis, " being empty");
  }
}

DimVector with_space(const Tensor& input, IntArrayRef output_size) {
  DimVector sizes(input.sizes().begin(), input.sizes().end() - output_size.size());
  sizes.append(output_size.begin(), output_size.end());
  return sizes;
}

Tensor adaptive_average(const Tensor& input, IntArrayRef output_size, const char* name) {
  const auto space = static_cast<std::int64_t>(output_size.size());
  check_adaptive(input, output_size, space, name);
  const Tensor output =
      at::empty(with_space(input, output_size), input.options().memory_format(input.suggest_memory_format()));
  pool("avg_pool", adaptive(), space, output, input, false);
  return output;
}

Tensor adaptive_average_backward(const Tensor& grad_output, const Tensor& input, std::int64_t space, const char* name) {
  TORCH_CHECK(input.scalar_type() == grad_output.scalar_type(), "expected dtype ", input.dtype(),
              " for `grad_output` but got dtype ", grad_output.dtype());
  TORCH_CHECK(grad_output.dim() == input.dim(), name, ": Expected dimensions ", input.dim(),
              " for `grad_output` but got dimensions ", grad_output.dim());
  Tensor grad_input = at::empty_like(input);
  if (grad_output.numel() == 0) return grad_input.zero_();
  pool("avg_pool_backward", adaptive(), space, grad_input, grad_output, true);
  return grad_input;
}

// The sizes of what max_pool3d_with_indices makes.
DimVector max_pool3d_sizes(const Tensor& input, const PoolingParams& params, bool ceil_mode) {
  std::array<std::int64_t, 3> out = {0, 0, 0}, in = {0, 0, 0};
  for (int axis = 0; axis < 3; ++axis) {
    if (input.dim() < 4) break;  // told below
    in[axis] = input.size(axis - 3);
    out[axis] = pooling_output_shape<std::int64_t>(in[axis], params.kernel_size[axis], params.padding[axis],
                                                   params.stride[axis], params.dilation[axis], ceil_mode);
  }
  pool3d_shape_check(input, input.dim() < 4 ? 0 : input.size(-4), params.kernel_size[0], params.kernel_size[1],
                     params.kernel_size[2], params.stride[0], params.stride[1], params.stride[2], params.padding[0],
                     params.padding[1], params.padding[2], params.dilation[0], params.dilation[1], params.dilation[2],
                     in[0], in[1], in[2], out[0], out[1], out[2], "max_pool3d_with_indices()");
  return with_space(input, out);
}

PoolingParams max_pool3d_params(IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation) {
  const auto is_one_or_three = [](IntArrayRef values) { return values.size() == 1 || values.size() == 3; };
  TORCH_CHECK(is_one_or_three(kernel_size),
              "max_pool3d: kernel_size must either be a single int, or a tuple of three ints");
  TORCH_CHECK(stride.empty() || is_one_or_three(stride),
              "max_pool3d: stride must either be omitted, a single int, or a tuple of three ints");
  TORCH_CHECK(is_one_or_three(padding), "max_pool3d: padding must either be a single int, or a tuple of three ints");
  TORCH_CHECK(is_one_or_three(dilation), "max_pool3d: dilation must be either a single int, or a tuple of three ints");
  return sliding(3, kernel_size, stride, padding, dilation);
}

}  // namespace

TORCH_IMPL_FUNC(max_pool2d_with_indices_out_mps)
(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool,
 const Tensor& output, const Tensor& indices) {
  pool("max_pool", sliding(2, kernel_size, stride, padding, dilation), 2, output, input, false, indices);
}

TORCH_IMPL_FUNC(max_pool2d_with_indices_backward_out_mps)
(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
 IntArrayRef dilation, bool, const Tensor& indices, const Tensor& grad_input) {
  pool("max_pool_backward", sliding(2, kernel_size, stride, padding, dilation), 2, grad_input, grad_output, true,
       indices);
}

std::tuple<Tensor&, Tensor&> max_pool3d_with_indices_out_mps(const Tensor& input, IntArrayRef kernel_size,
                                                             IntArrayRef stride, IntArrayRef padding,
                                                             IntArrayRef dilation, bool ceil_mode, Tensor& output,
                                                             Tensor& indices) {
  const auto params = max_pool3d_params(kernel_size, stride, padding, dilation);
  const auto sizes = max_pool3d_sizes(input, params, ceil_mode);
  output.resize_(sizes);
  indices.resize_(sizes);
  pool("max_pool", params, 3, output, input, false, indices);
  return {output, indices};
}

std::tuple<Tensor, Tensor> max_pool3d_with_indices_mps(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride,
                                                       IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  Tensor output = at::empty({0}, input.options()), indices = at::empty({0}, input.options().dtype(kLong));
  max_pool3d_with_indices_out_mps(input, kernel_size, stride, padding, dilation, ceil_mode, output, indices);
  return {output, indices};
}

Tensor& max_pool3d_with_indices_backward_out_mps(const Tensor& grad_output, const Tensor& input,
                                                 IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                                 IntArrayRef dilation, bool ceil_mode, const Tensor& indices,
                                                 Tensor& grad_input) {
  const auto params = max_pool3d_params(kernel_size, stride, padding, dilation);
  const auto sizes = max_pool3d_sizes(input, params, ceil_mode);
  TORCH_CHECK(grad_output.sizes().equals(sizes), "Expected grad_output of size ", IntArrayRef(sizes), ", but got ",
              grad_output.sizes());
  TORCH_CHECK(indices.sizes().equals(sizes), "Expected indices of size ", IntArrayRef(sizes), ", but got ",
              indices.sizes());
  grad_input.resize_(input.sizes());
  pool("max_pool_backward", params, 3, grad_input, grad_output, true, indices);
  return grad_input;
}

Tensor max_pool3d_with_indices_backward_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef kernel_size,
                                            IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                            bool ceil_mode, const Tensor& indices) {
  Tensor grad_input = at::empty({0}, input.options());
  return max_pool3d_with_indices_backward_out_mps(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode,
                                                  indices, grad_input);
}

TORCH_IMPL_FUNC(avg_pool2d_out_mps)
(const Tensor& input, std::int64_t kH, std::int64_t kW, std::int64_t dH, std::int64_t dW, std::int64_t padH,
 std::int64_t padW, bool, bool count_include_pad, std::optional<std::int64_t> divisor, const Tensor& output) {
  average_windows(averages(2, {kH, kW}, {dH, dW}, {padH, padW}, count_include_pad, divisor), 2, output, input);
}

TORCH_IMPL_FUNC(avg_pool2d_backward_out_mps)
(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool,
 bool count_include_pad, std::optional<std::int64_t> divisor, const Tensor& grad_input) {
  pool("avg_pool_backward", averages(2, kernel_size, stride, padding, count_include_pad, divisor), 2, grad_input,
       grad_output, true);
}

TORCH_IMPL_FUNC(avg_pool3d_out_mps)
(const Tensor& input, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool, bool count_include_pad,
 std::optional<std::int64_t> divisor, const Tensor& output) {
  average_windows(averages(3, kernel_size, stride, padding, count_include_pad, divisor), 3, output, input);
}

TORCH_IMPL_FUNC(avg_pool3d_backward_out_mps)
(const Tensor& grad_output, const Tensor&, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool,
 bool count_include_pad, std::optional<std::int64_t> divisor, const Tensor& grad_input) {
  pool("avg_pool_backward", averages(3, kernel_size, stride, padding, count_include_pad, divisor), 3, grad_input,
       grad_output, true);
}

Tensor adaptive_avg_pool2d_mps(const Tensor& input, IntArrayRef output_size) {
  return adaptive_average(input, output_size, "adaptive_avg_pool2d");
}

Tensor& adaptive_avg_pool2d_out_mps(const Tensor& input, IntArrayRef output_size, Tensor& output) {
  check_adaptive(input, output_size, 2, "adaptive_avg_pool2d");
  TORCH_CHECK(input.dtype() == output.dtype(), "expected dtype ", input.dtype(), " for `output` but got dtype ",
              output.dtype());
  output.resize_(with_space(input, output_size));
  pool("avg_pool", adaptive(), 2, output, input, false);
  return output;
}

Tensor adaptive_avg_pool2d_backward_mps(const Tensor& grad_output, const Tensor& input) {
  return adaptive_average_backward(grad_output, input, 2, "adaptive_avg_pool2d_backward");
}

Tensor adaptive_avg_pool3d_mps(const Tensor& input, IntArrayRef output_size) {
  return adaptive_average(input, output_size, "adaptive_avg_pool3d");
}

Tensor adaptive_avg_pool3d_backward_mps(const Tensor& grad_output, const Tensor& input) {
  return adaptive_average_backward(grad_output, input, 3, "adaptive_avg_pool3d_backward");
}

TORCH_IMPL_FUNC(adaptive_max_pool2d_out_mps)
(const Tensor& input, IntArrayRef, const Tensor& output, const Tensor& indices) {
  pool("max_pool", adaptive(), 2, output, input, false, indices);
}

TORCH_IMPL_FUNC(adaptive_max_pool2d_backward_out_mps)
(const Tensor& grad_output, const Tensor&, const Tensor& indices, const Tensor& grad_input) {
  if (grad_output.numel() == 0) {
    grad_input.zero_();
    return;
  }
  pool("max_pool_backward", adaptive(), 2, grad_input, grad_output, true, indices);
}

TORCH_IMPL_FUNC(adaptive_max_pool3d_out_mps)
(const Tensor& input, IntArrayRef, const Tensor& output, const Tensor& indices) {
  pool("max_pool", adaptive(), 3, output, input, false, indices);
}

TORCH_IMPL_FUNC(adaptive_max_pool3d_backward_out_mps)
(const Tensor& grad_output, const Tensor&, const Tensor& indices, const Tensor& grad_input) {
  if (grad_output.numel() == 0) {
    grad_input.zero_();
    return;
  }
  pool("max_pool_backward", adaptive(), 3, grad_input, grad_output, true, indices);
}

}  // namespace at::native
