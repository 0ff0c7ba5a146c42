// Padding by reflection and replication, and its gradient.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/Padding.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/reflection_pad1d_backward_native.h>
#include <ATen/ops/reflection_pad1d_native.h>
#include <ATen/ops/reflection_pad2d_backward_native.h>
#include <ATen/ops/reflection_pad2d_native.h>
#include <ATen/ops/reflection_pad3d_backward_native.h>
#include <ATen/ops/reflection_pad3d_native.h>
#include <ATen/ops/replication_pad1d_backward_native.h>
#include <ATen/ops/replication_pad1d_native.h>
#include <ATen/ops/replication_pad2d_backward_native.h>
#include <ATen/ops/replication_pad2d_native.h>
#include <ATen/ops/replication_pad3d_backward_native.h>
#include <ATen/ops/replication_pad3d_native.h>

#include <ATen/native/mps/Pad_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

using metalloid::operators::as_volume;

struct PadParams {
  std::int64_t input[5], output[5];
  int input_sizes[3], output_sizes[3], before[3];
  int channels;
};

void run_pad(const std::string& kernel, const Tensor& input_, const Tensor& output_, IntArrayRef padding,
             bool is_backward) {
  const auto space = static_cast<std::int64_t>(padding.size() / 2);
  const Tensor input = as_volume(input_, space), output = as_volume(output_, space);
  const Tensor& result = is_backward ? input : output;
  const std::string name = kernel + "_" + metalloid::operators::metal_type(result.scalar_type(), kernel.c_str());
  if (result.numel() == 0) return;
  PadParams params{};
  std::copy_n(input.strides().begin(), 5, params.input);
  std::copy_n(output.strides().begin(), 5, params.output);
  for (int axis = 0; axis < 3; ++axis) {
    params.input_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.output_sizes[axis] = static_cast<int>(output.size(axis + 2));
    if (axis >= 3 - space) params.before[axis] = static_cast<int>(padding[2 * (2 - axis)]);  // the last dimension first
  }
  params.channels = static_cast<int>(input.size(1));
  const metalloid::operators::Extent threads = {static_cast<std::uint64_t>(result.size(4)),
                                                static_cast<std::uint64_t>(result.size(2) * result.size(3)),
                                                static_cast<std::uint64_t>(result.size(0) * result.size(1))};
  metalloid::operators::run(lib, name, threads, metalloid::operators::group_for(threads), result,
                            is_backward ? output : input, params);
}

Tensor& pad_out(const char* kernel, const Tensor& input, IntArrayRef padding, Tensor& output, std::int64_t space) {
  const bool reflects = std::string_view(kernel) == "reflection_pad";
  output.resize_(padding::pad_shape_check(input, padding, space, reflects));
  run_pad(kernel, input, output, padding, false);
  return output;
}

Tensor& pad_backward_out(const char* kernel, const Tensor& grad_output, const Tensor& input, IntArrayRef padding,
                         Tensor& grad_input, std::int64_t space) {
  padding::pad_backward_shape_check(grad_output, input, padding, space);
  grad_input.resize_(input.sizes(), input.suggest_memory_format());
  if (grad_output.numel() == 0) return grad_input.zero_();
  run_pad(kernel, grad_input, grad_output, padding, true);
  return grad_input;
}

Tensor pad_backward(const char* kernel, const Tensor& grad_output, const Tensor& input, IntArrayRef padding,
                    std::int64_t space) {
  Tensor grad_input = at::empty({0}, input.options());
  return pad_backward_out(kernel, grad_output, input, padding, grad_input, space);
}

}  // namespace

// Structured ones: PyTorch has checked and made the output.
#define PAD(FUNCTION, KERNEL)                                                                 \
  TORCH_IMPL_FUNC(FUNCTION)(const Tensor& input, IntArrayRef padding, const Tensor& output) { \
    run_pad(KERNEL, input, output, padding, false);                                           \
  }
#define PAD_BACKWARD(FUNCTION, KERNEL)                                                        \
  TORCH_IMPL_FUNC(FUNCTION)                                                                   \
  (const Tensor& grad_output, const Tensor&, IntArrayRef padding, const Tensor& grad_input) { \
    if (grad_output.numel() == 0) {                                                           \
      grad_input.zero_();                                                                     \
    } else {                                                                                  \
      run_pad(KERNEL, grad_input, grad_output, padding, true);                                \
    }                                                                                         \
  }

PAD(reflection_pad1d_out_mps, "reflection_pad")
PAD(reflection_pad3d_out_mps, "reflection_pad")
PAD(replication_pad1d_out_mps, "replication_pad")
PAD(replication_pad2d_out_mps, "replication_pad")
PAD(replication_pad3d_out_mps, "replication_pad")
PAD_BACKWARD(reflection_pad1d_backward_out_mps, "reflection_pad_backward")
PAD_BACKWARD(reflection_pad3d_backward_out_mps, "reflection_pad_backward")
PAD_BACKWARD(replication_pad1d_backward_out_mps, "replication_pad_backward")

Tensor& reflection_pad2d_out_mps(const Tensor& input, IntArrayRef padding, Tensor& output) {
  return pad_out("reflection_pad", input, padding, output, 2);
}

Tensor reflection_pad2d_mps(const Tensor& input, IntArrayRef padding) {
  Tensor output = at::empty({0}, input.options());
  return pad_out("reflection_pad", input, padding, output, 2);
}

Tensor& reflection_pad2d_backward_out_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding,
                                          Tensor& grad_input) {
  return pad_backward_out("reflection_pad_backward", grad_output, input, padding, grad_input, 2);
}

Tensor reflection_pad2d_backward_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding) {
  return pad_backward("reflection_pad_backward", grad_output, input, padding, 2);
}

Tensor& replication_pad2d_backward_out_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding,
                                           Tensor& grad_input) {
  return pad_backward_out("replication_pad_backward", grad_output, input, padding, grad_input, 2);
}

Tensor replication_pad2d_backward_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding) {
  return pad_backward("replication_pad_backward", grad_output, input, padding, 2);
}

Tensor& replication_pad3d_backward_out_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding,
                                           Tensor& grad_input) {
  return pad_backward_out("replication_pad_backward", grad_output, input, padding, grad_input, 3);
}

Tensor replication_pad3d_backward_mps(const Tensor& grad_output, const Tensor& input, IntArrayRef padding) {
  return pad_backward("replication_pad_backward", grad_output, input, padding, 3);
}

}  // namespace at::native
