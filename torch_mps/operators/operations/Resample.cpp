// Upsampling: nearest, linear, bicubic and antialiased, and its gradients.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_upsample_bicubic2d_aa_backward_native.h>
#include <ATen/ops/_upsample_bicubic2d_aa_native.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward_native.h>
#include <ATen/ops/_upsample_bilinear2d_aa_native.h>
#include <ATen/ops/_upsample_nearest_exact1d_backward_native.h>
#include <ATen/ops/_upsample_nearest_exact1d_native.h>
#include <ATen/ops/_upsample_nearest_exact2d_backward_native.h>
#include <ATen/ops/_upsample_nearest_exact2d_native.h>
#include <ATen/ops/_upsample_nearest_exact3d_backward_native.h>
#include <ATen/ops/_upsample_nearest_exact3d_native.h>
#include <ATen/ops/upsample_bicubic2d_backward_native.h>
#include <ATen/ops/upsample_bicubic2d_native.h>
#include <ATen/ops/upsample_bilinear2d_backward_native.h>
#include <ATen/ops/upsample_bilinear2d_native.h>
#include <ATen/ops/upsample_linear1d_backward_native.h>
#include <ATen/ops/upsample_linear1d_native.h>
#include <ATen/ops/upsample_nearest1d_backward_native.h>
#include <ATen/ops/upsample_nearest1d_native.h>
#include <ATen/ops/upsample_nearest2d_backward_native.h>
#include <ATen/ops/upsample_nearest2d_native.h>
#include <ATen/ops/upsample_nearest3d_backward_native.h>
#include <ATen/ops/upsample_nearest3d_native.h>
#include <ATen/ops/upsample_trilinear3d_backward_native.h>
#include <ATen/ops/upsample_trilinear3d_native.h>

#include <ATen/native/mps/Resample_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

using metalloid::operators::as_volume;
using Scales = std::array<std::optional<double>, 3>;  // outputs per input, of depth, height and width

struct ResampleParams {
  std::int64_t input[5], output[5];
  int input_sizes[3], output_sizes[3];
  float scales[3];
  int channels, align_corners;
};

// With aligned corners the first and the last elements of both sides lie on each other; else a given scale counts more
// than the sizes.
float inputs_per_output(std::int64_t input, std::int64_t output, bool align_corners, std::optional<double> scale) {
  if (align_corners) return output > 1 ? static_cast<float>(input - 1) / static_cast<float>(output - 1) : 0.0f;
  if (scale && *scale > 0) return static_cast<float>(1.0 / *scale);
  return static_cast<float>(input) / static_cast<float>(output);
}

void resample(const std::string& kernel, const Tensor& input_, const Tensor& output_, bool is_backward,
              bool align_corners, const Scales& scales) {
  const auto space = input_.dim() - 2;
  const Tensor input = as_volume(input_, space), output = as_volume(output_, space);
  const Tensor& result = is_backward ? input : output;
  const std::string name = kernel + "_" + metalloid::operators::metal_type(result.scalar_type(), kernel.c_str());
  if (result.numel() == 0) return;
  ResampleParams params{};
  std::copy_n(input.strides().begin(), 5, params.input);
  std::copy_n(output.strides().begin(), 5, params.output);
  for (int axis = 0; axis < 3; ++axis) {
    params.input_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.output_sizes[axis] = static_cast<int>(output.size(axis + 2));
    params.scales[axis] = inputs_per_output(input.size(axis + 2), output.size(axis + 2), align_corners, scales[axis]);
  }
  params.channels = static_cast<int>(input.size(1));
  params.align_corners = align_corners;
  if (kernel == "upsample_linear" && output.scalar_type() != kByte && input.size(2) == 1 && output.size(2) == 1 &&
      input.stride(4) == 1 && output.stride(4) == 1 && output.size(4) >= 8) {
    constexpr std::uint64_t columns = 32, rows = 16;  // of a threadgroup, as Resample.metal has them
    const auto width = static_cast<std::uint64_t>(output.size(4)), height = static_cast<std::uint64_t>(output.size(3));
    metalloid::operators::run(lib, "upsample_linear_rows" + name.substr(kernel.size()),
                              {(width + columns - 1) / columns * columns, (height + rows - 1) / rows,
                               static_cast<std::uint64_t>(output.size(0) * output.size(1))},
                              {columns, 1, 1}, output, input, params);
    return;
  }
  const metalloid::operators::Extent threads = {static_cast<std::uint64_t>(result.size(4)),
                                                static_cast<std::uint64_t>(result.size(2) * result.size(3)),
                                                static_cast<std::uint64_t>(result.size(0) * result.size(1))};
  metalloid::operators::run(lib, name, threads, metalloid::operators::group_for(threads), result,
                            is_backward ? output : input, params);
}

}  // namespace

#define UPSAMPLE_1D(FORWARD, BACKWARD, MODE)                                                                     \
  TORCH_IMPL_FUNC(FORWARD)                                                                                       \
  (const Tensor& input, IntArrayRef, std::optional<double> width, const Tensor& output) {                        \
    resample("upsample_" MODE, input, output, false, false, Scales{std::nullopt, std::nullopt, width});          \
  }                                                                                                              \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                      \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, std::optional<double> width, const Tensor& grad_input) { \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, false,                                    \
             Scales{std::nullopt, std::nullopt, width});                                                         \
  }

#define UPSAMPLE_ALIGNED_1D(FORWARD, BACKWARD, MODE)                                                            \
  TORCH_IMPL_FUNC(FORWARD)                                                                                      \
  (const Tensor& input, IntArrayRef, bool align_corners, std::optional<double> width, const Tensor& output) {   \
    resample("upsample_" MODE, input, output, false, align_corners, Scales{std::nullopt, std::nullopt, width}); \
  }                                                                                                             \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                     \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> width,        \
   const Tensor& grad_input) {                                                                                  \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, align_corners,                           \
             Scales{std::nullopt, std::nullopt, width});                                                        \
  }

#define UPSAMPLE_2D(FORWARD, BACKWARD, MODE)                                                                        \
  TORCH_IMPL_FUNC(FORWARD)                                                                                          \
  (const Tensor& input, IntArrayRef, std::optional<double> height, std::optional<double> width,                     \
   const Tensor& output) {                                                                                          \
    resample("upsample_" MODE, input, output, false, false, Scales{std::nullopt, height, width});                   \
  }                                                                                                                 \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                         \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, std::optional<double> height, std::optional<double> width,  \
   const Tensor& grad_input) {                                                                                      \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, false, Scales{std::nullopt, height, width}); \
  }

#define UPSAMPLE_ALIGNED_2D(FORWARD, BACKWARD, MODE)                                                                \
  TORCH_IMPL_FUNC(FORWARD)                                                                                          \
  (const Tensor& input, IntArrayRef, bool align_corners, std::optional<double> height, std::optional<double> width, \
   const Tensor& output) {                                                                                          \
    resample("upsample_" MODE, input, output, false, align_corners, Scales{std::nullopt, height, width});           \
  }                                                                                                                 \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                         \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> height,           \
   std::optional<double> width, const Tensor& grad_input) {                                                         \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, align_corners,                               \
             Scales{std::nullopt, height, width});                                                                  \
  }

#define UPSAMPLE_3D(FORWARD, BACKWARD, MODE)                                                                       \
  TORCH_IMPL_FUNC(FORWARD)                                                                                         \
  (const Tensor& input, IntArrayRef, std::optional<double> depth, std::optional<double> height,                    \
   std::optional<double> width, const Tensor& output) {                                                            \
    resample("upsample_" MODE, input, output, false, false, Scales{depth, height, width});                         \
  }                                                                                                                \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                        \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, std::optional<double> depth, std::optional<double> height, \
   std::optional<double> width, const Tensor& grad_input) {                                                        \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, false, Scales{depth, height, width});       \
  }

#define UPSAMPLE_ALIGNED_3D(FORWARD, BACKWARD, MODE)                                                                 \
  TORCH_IMPL_FUNC(FORWARD)                                                                                           \
  (const Tensor& input, IntArrayRef, bool align_corners, std::optional<double> depth, std::optional<double> height,  \
   std::optional<double> width, const Tensor& output) {                                                              \
    resample("upsample_" MODE, input, output, false, align_corners, Scales{depth, height, width});                   \
  }                                                                                                                  \
  TORCH_IMPL_FUNC(BACKWARD)                                                                                          \
  (const Tensor& grad_output, IntArrayRef, IntArrayRef, bool align_corners, std::optional<double> depth,             \
   std::optional<double> height, std::optional<double> width, const Tensor& grad_input) {                            \
    resample("upsample_backward_" MODE, grad_input, grad_output, true, align_corners, Scales{depth, height, width}); \
  }

UPSAMPLE_1D(upsample_nearest1d_out_mps, upsample_nearest1d_backward_out_mps, "nearest")
UPSAMPLE_2D(upsample_nearest2d_out_mps, upsample_nearest2d_backward_out_mps, "nearest")
UPSAMPLE_3D(upsample_nearest3d_out_mps, upsample_nearest3d_backward_out_mps, "nearest")
UPSAMPLE_1D(_upsample_nearest_exact1d_out_mps, _upsample_nearest_exact1d_backward_out_mps, "nearest_exact")
UPSAMPLE_2D(_upsample_nearest_exact2d_out_mps, _upsample_nearest_exact2d_backward_out_mps, "nearest_exact")
UPSAMPLE_3D(_upsample_nearest_exact3d_out_mps, _upsample_nearest_exact3d_backward_out_mps, "nearest_exact")
UPSAMPLE_ALIGNED_1D(upsample_linear1d_out_mps, upsample_linear1d_backward_out_mps, "linear")
UPSAMPLE_ALIGNED_2D(upsample_bilinear2d_out_mps, upsample_bilinear2d_backward_out_mps, "linear")
UPSAMPLE_ALIGNED_3D(upsample_trilinear3d_out_mps, upsample_trilinear3d_backward_out_mps, "linear")
UPSAMPLE_ALIGNED_2D(upsample_bicubic2d_out_mps, upsample_bicubic2d_backward_out_mps, "cubic")
UPSAMPLE_ALIGNED_2D(_upsample_bilinear2d_aa_out_mps, _upsample_bilinear2d_aa_backward_out_mps, "linear_antialias")
UPSAMPLE_ALIGNED_2D(_upsample_bicubic2d_aa_out_mps, _upsample_bicubic2d_aa_backward_out_mps, "cubic_antialias")

}  // namespace at::native
