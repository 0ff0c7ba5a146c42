// grid_sampler_2d and its gradient.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/GridSamplerUtils.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/grid_sampler_2d_backward_native.h>
#include <ATen/ops/grid_sampler_2d_native.h>
#include <ATen/ops/zeros.h>

#include <ATen/native/mps/GridSampler_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

using metalloid::operators::as_volume;

struct GridParams {
  std::int64_t input[5], output[5], grid[5], grad_grid[5];
  int input_sizes[3], output_sizes[3];
  int channels, space;
  int mode, padding;
  int align_corners, has_grad_input;
};

// (N, H, W, 2) as (N, 1, H, W, 2)
Tensor five_dimensional(const Tensor& grid) { return grid.dim() == 4 ? grid.unsqueeze(1) : grid; }

GridParams params_of(const Tensor& input_, const Tensor& grid_, const Tensor& output_, std::int64_t mode,
                     std::int64_t padding, bool align_corners) {
  const auto space = input_.dim() - 2;
  const Tensor input = as_volume(input_, space), output = as_volume(output_, space), grid = five_dimensional(grid_);
  GridParams params{};
  std::copy_n(input.strides().begin(), 5, params.input);
  std::copy_n(output.strides().begin(), 5, params.output);
  std::copy_n(grid.strides().begin(), 5, params.grid);
  for (int axis = 0; axis < 3; ++axis) {
    params.input_sizes[axis] = static_cast<int>(input.size(axis + 2));
    params.output_sizes[axis] = static_cast<int>(output.size(axis + 2));
  }
  params.channels = static_cast<int>(input.size(1));
  params.space = static_cast<int>(space);
  params.mode = static_cast<int>(mode);
  params.padding = static_cast<int>(padding);
  params.align_corners = align_corners;
  return params;
}

metalloid::operators::Extent places(const GridParams& params, const Tensor& output) {
  return {static_cast<std::uint64_t>(params.output_sizes[2]),
          static_cast<std::uint64_t>(params.output_sizes[0]) * params.output_sizes[1],
          static_cast<std::uint64_t>(output.size(0))};
}

Tensor sample(const Tensor& input, const Tensor& grid, std::int64_t mode, std::int64_t padding, bool align_corners) {
  check_grid_sampler_common(input, grid);
  TORCH_CHECK(input.scalar_type() == grid.scalar_type(),
              "grid_sampler(): expected input and grid to have same dtype, but input has ", input.dtype(),
              " and grid has ", grid.dtype());
  DimVector sizes = {input.size(0), input.size(1)};
  sizes.append(grid.sizes().begin() + 1, grid.sizes().end() - 1);
  const Tensor output = at::empty(sizes, input.options());
  const auto type = metalloid::operators::metal_type(input.scalar_type(), "grid_sampler_mps");
  if (output.numel() == 0) return output;
  const auto params = params_of(input, grid, output, mode, padding, align_corners);
  const auto threads = places(params, output);
  metalloid::operators::run(lib, std::string("grid_sampler_") + type, threads, metalloid::operators::group_for(threads),
                            output, input, grid, params);
  return output;
}

std::tuple<Tensor, Tensor> sample_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid,
                                           std::int64_t mode, std::int64_t padding, bool align_corners,
                                           std::array<bool, 2> output_mask) {
  check_grid_sampler_common(input, grid);
  const auto type = metalloid::operators::metal_type(input.scalar_type(), "grid_sampler_backward_mps");
  Tensor grad_input, sums;
  if (output_mask[0]) sums = at::zeros(input.sizes(), input.options().dtype(kFloat));
  const Tensor grad_grid = at::empty_like(grid, MemoryFormat::Contiguous);
  if (grid.numel() != 0 && input.numel() != 0) {
    auto params = params_of(input, grid, grad_output, mode, padding, align_corners);
    const Tensor grad_view = five_dimensional(grad_grid);
    std::copy_n(grad_view.strides().begin(), 5, params.grad_grid);
    params.has_grad_input = output_mask[0];
    const auto threads = places(params, grad_output);
    metalloid::operators::run(lib, std::string("grid_sampler_backward_") + type, threads,
                              metalloid::operators::group_for(threads), grad_grid, output_mask[0] ? sums : grad_grid,
                              grad_output, input, grid, params);
  } else {
    grad_grid.zero_();
  }
  if (output_mask[0]) grad_input = sums.to(input.scalar_type());
  return {grad_input, grad_grid};
}

}  // namespace

Tensor grid_sampler_2d_mps(const Tensor& input, const Tensor& grid, std::int64_t mode, std::int64_t padding,
                           bool align_corners) {
  check_grid_sampler_2d(input, grid);
  return sample(input, grid, mode, padding, align_corners);
}

std::tuple<Tensor, Tensor> grid_sampler_2d_backward_mps(const Tensor& grad_output, const Tensor& input,
                                                        const Tensor& grid, std::int64_t mode, std::int64_t padding,
                                                        bool align_corners, std::array<bool, 2> output_mask) {
  check_grid_sampler_2d_backward(input, grid, grad_output);
  return sample_backward(grad_output, input, grid, mode, padding, align_corners, output_mask);
}

}  // namespace at::native
