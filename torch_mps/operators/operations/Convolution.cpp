// Convolutions in one to three dimensions, transposed ones and their gradients: all are one product with a gathered
// matrix (kernels/Convolution.metal), with other axes as rows, columns and depth.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/ConvUtils.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/convolution_backward_overrideable_native.h>
#include <ATen/ops/convolution_overrideable_native.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/Convolution_metallib.h>

#include "convolution.h"
#include "kernels.h"

namespace at::native {

namespace {

using metalloid::operators::as_volume;
using metalloid::operators::ConvolutionParams;
using metalloid::operators::for_volume;

struct Settings {
  std::array<int, 3> stride, padding, dilation;
  std::int64_t groups;
};

void run_convolution(ConvolutionParams& params, std::int64_t groups, const Tensor& result, const Tensor& matrix,
                     const Tensor& gathered, const Tensor& bias) {
  if (result.numel() == 0) return;
  const auto product = [](const int (&sizes)[4]) {
    const std::int64_t all = std::int64_t{sizes[0]} * sizes[1] * sizes[2] * sizes[3];
    TORCH_CHECK(all <= INT32_MAX - 64,
                "convolution: tensors with more than 2^31 elements per channel are not supported");
    return static_cast<int>(all);
  };
  params.columns = product(params.column_sizes);
  params.depth = product(params.depth_sizes);
  params.has_bias = bias.defined();
  if (bias.defined()) {
    params.bias_row = bias.stride(0);
    params.group_bias = params.rows * params.bias_row;
  }
  if (metalloid::operators::convolve_in_rows(params, groups, result, matrix, gathered, bias)) return;
  const std::string type = metalloid::operators::metal_type(result.scalar_type(), "convolution_mps");
  const std::uint64_t rows = params.rows, columns = params.columns, all_groups = groups;
  const Tensor& bound_bias = bias.defined() ? bias : result;
  if (rows >= 8 && columns >= 16 && params.depth >= 8) {
    metalloid::operators::run(lib, "convolution_tensors_" + type,
                              {(columns + 31) / 32 * 128, (rows + 63) / 64, all_groups}, {128, 1, 1}, result, matrix,
                              gathered, bound_bias, params);
  } else {
    const metalloid::operators::Extent threads = {columns, rows, all_groups};
    metalloid::operators::run(lib, "convolution_each_" + type, threads, metalloid::operators::group_for(threads),
                              result, matrix, gathered, bound_bias, params);
  }
}

// Rows are the output's channels, columns its batch and places, depth the weight's channels and places.
void convolve(const Tensor& result, const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Settings& set) {
  ConvolutionParams params{};
  params.rows = static_cast<int>(weight.size(0) / set.groups);
  params.group_matrix = params.rows * weight.stride(0);
  params.group_gathered = weight.size(1) * input.stride(1);
  params.group_result = params.rows * result.stride(1);
  params.matrix_row = weight.stride(0);
  params.gathered_column = input.stride(0);
  params.gathered_depth = input.stride(1);
  params.result_row = result.stride(1);
  params.column_sizes[0] = static_cast<int>(result.size(0));
  params.result_column[0] = result.stride(0);
  params.depth_sizes[0] = static_cast<int>(weight.size(1));
  params.matrix_depth[0] = weight.stride(1);
  for (int axis = 0; axis < 3; ++axis) {
    params.column_sizes[axis + 1] = static_cast<int>(result.size(axis + 2));
    params.result_column[axis + 1] = result.stride(axis + 2);
    params.depth_sizes[axis + 1] = static_cast<int>(weight.size(axis + 2));
    params.matrix_depth[axis + 1] = weight.stride(axis + 2);
    params.gathered_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.gathered[axis] = input.stride(axis + 2);
    params.column_steps[axis] = set.stride[axis];
    params.depth_steps[axis] = set.dilation[axis];
    params.start[axis] = -set.padding[axis];
    params.divisors[axis] = 1;
  }
  run_convolution(params, set.groups, result, weight, input, bias);
}

// Also a transposed convolution. Rows are the input's channels, columns its batch and places, depth the output's
// channels of a group and the weight's places.
void backward_of_input(const Tensor& result, const Tensor& grad, const Tensor& weight, const Tensor& bias,
                       const Settings& set) {
  ConvolutionParams params{};
  const auto channels = weight.size(0) / set.groups;
  params.rows = static_cast<int>(weight.size(1));
  params.group_matrix = channels * weight.stride(0);
  params.group_gathered = channels * grad.stride(1);
  params.group_result = params.rows * result.stride(1);
  params.matrix_row = weight.stride(1);
  params.gathered_column = grad.stride(0);
  params.gathered_depth = grad.stride(1);
  params.result_row = result.stride(1);
  params.column_sizes[0] = static_cast<int>(result.size(0));
  params.result_column[0] = result.stride(0);
  params.depth_sizes[0] = static_cast<int>(channels);
  params.matrix_depth[0] = weight.stride(0);
  for (int axis = 0; axis < 3; ++axis) {
    params.column_sizes[axis + 1] = static_cast<int>(result.size(axis + 2));
    params.result_column[axis + 1] = result.stride(axis + 2);
    params.depth_sizes[axis + 1] = static_cast<int>(weight.size(axis + 2));
    params.matrix_depth[axis + 1] = weight.stride(axis + 2);
    params.gathered_sizes[axis] = static_cast<int>(grad.size(axis + 2));
    params.gathered[axis] = grad.stride(axis + 2);
    params.column_steps[axis] = 1;
    params.depth_steps[axis] = -set.dilation[axis];
    params.start[axis] = set.padding[axis];
    params.divisors[axis] = set.stride[axis];
  }
  run_convolution(params, set.groups, result, weight, grad, bias);
}

// Rows are the output's channels, columns the weight's channels and places, depth the output's batch and places.
void backward_of_weight(const Tensor& result, const Tensor& grad, const Tensor& input, const Settings& set) {
  ConvolutionParams params{};
  params.rows = static_cast<int>(result.size(0) / set.groups);
  params.group_matrix = params.rows * grad.stride(1);
  params.group_gathered = result.size(1) * input.stride(1);
  params.group_result = params.rows * result.stride(0);
  params.matrix_row = grad.stride(1);
  params.gathered_column = input.stride(1);
  params.gathered_depth = input.stride(0);
  params.result_row = result.stride(0);
  params.column_sizes[0] = static_cast<int>(result.size(1));
  params.result_column[0] = result.stride(1);
  params.depth_sizes[0] = static_cast<int>(grad.size(0));
  params.matrix_depth[0] = grad.stride(0);
  for (int axis = 0; axis < 3; ++axis) {
    params.column_sizes[axis + 1] = static_cast<int>(result.size(axis + 2));
    params.result_column[axis + 1] = result.stride(axis + 2);
    params.depth_sizes[axis + 1] = static_cast<int>(grad.size(axis + 2));
    params.matrix_depth[axis + 1] = grad.stride(axis + 2);
    params.gathered_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.gathered[axis] = input.stride(axis + 2);
    params.column_steps[axis] = set.dilation[axis];
    params.depth_steps[axis] = set.stride[axis];
    params.start[axis] = -set.padding[axis];
    params.divisors[axis] = 1;
  }
  run_convolution(params, set.groups, result, grad, input, {});
}

void check_type(const Tensor& input, const Tensor& other, const char* what) {
  TORCH_CHECK(!other.defined() || input.options().type_equal(other.options()), "Input type (", input.toString(),
              ") and ", what, " type (", other.defined() ? other.toString() : "", ") should be the same");
}

// As torch.compile expects it (metalloid/mps/layouts.py).
MemoryFormat format_of_results(const Tensor& input, const Tensor& weight) {
  if (!mps_conv_use_channels_last(input, weight)) return MemoryFormat::Contiguous;
  return input.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast;
}

}  // namespace

Tensor convolution_overrideable_mps(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias_,
                                    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                                    IntArrayRef output_padding, std::int64_t groups) {
  const Tensor bias = bias_.value_or(Tensor());
  TORCH_CHECK(!isIntegralType(input.scalar_type(), /*includeBool=*/true),
              "Convolution is supported only for Floating types");
  check_type(input, weight, "weight");
  check_type(input, bias, "bias");
  const auto space = weight.dim() - 2;
  const Settings set{for_volume(stride, space, 1), for_volume(padding, space, 0), for_volume(dilation, space, 1),
                     groups};
  const auto extra = for_volume(output_padding, space, 0);
  DimVector sizes = {input.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  for (std::int64_t axis = 0; axis < space; ++axis) {
    const auto i = 3 - space + axis;
    const std::int64_t size = input.size(axis + 2),
                       reach = std::int64_t{set.dilation[i]} * (weight.size(axis + 2) - 1) + 1;
    sizes.push_back(transposed ? (size - 1) * set.stride[i] - 2 * set.padding[i] + reach + extra[i]
                               : (size + 2 * set.padding[i] - reach) / set.stride[i] + 1);
  }
  const Tensor result = at::empty(sizes, input.options().memory_format(format_of_results(input, weight)));
  (transposed ? backward_of_input : convolve)(as_volume(result, space), as_volume(input.resolve_neg(), space),
                                              as_volume(weight.resolve_neg(), space), bias, set);
  return result;
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward_overrideable_mps(const Tensor& grad_output, const Tensor& input,
                                                                         const Tensor& weight, IntArrayRef stride,
                                                                         IntArrayRef padding, IntArrayRef dilation,
                                                                         bool transposed, IntArrayRef output_padding,
                                                                         std::int64_t groups,
                                                                         std::array<bool, 3> output_mask) {
  check_type(input, weight, "weight");
  check_type(input, grad_output, "grad_output");
  const auto space = weight.dim() - 2;
  const Settings set{for_volume(stride, space, 1), for_volume(padding, space, 0), for_volume(dilation, space, 1),
                     groups};
  const Tensor grad = as_volume(grad_output.resolve_neg(), space), input_volume = as_volume(input.resolve_neg(), space);
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    grad_input = at::empty(input.sizes(), input.options().memory_format(format_of_results(input, weight)));
    const Tensor result = as_volume(grad_input, space), matrix = as_volume(weight.resolve_neg(), space);
    if (transposed) {
      convolve(result, grad, matrix, {}, set);
    } else {
      backward_of_input(result, grad, matrix, {}, set);
    }
  }
  if (output_mask[1]) {
    grad_weight = at::empty(weight.sizes(), weight.options().memory_format(format_of_results(input, weight)));
    const Tensor result = as_volume(grad_weight, space);
    if (transposed) {
      backward_of_weight(result, input_volume, grad, set);
    } else {
      backward_of_weight(result, grad, input_volume, set);
    }
  }
  if (output_mask[2]) {
    DimVector axes = {0};
    for (std::int64_t axis = 2; axis < grad_output.dim(); ++axis) axes.push_back(axis);
    grad_bias = grad_output.sum(axes);
  }
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace at::native
