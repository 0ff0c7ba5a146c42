// im2col and col2im (unfold, fold).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/im2col_shape_check.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/col2im_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/im2col_native.h>

#include <ATen/native/mps/Fold_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

struct FoldParams {
  std::int64_t image[4], columns[3];
  int sizes[2], blocks[2];
  int kernel_size[2], stride[2], padding[2], dilation[2];
  int channels;
};

void check_two(IntArrayRef values, const char* name) {
  TORCH_CHECK(values.size() == 2, "It is expected ", name, " equals to 2, but got size ", values.size());
}

// image (N, C, H, W) and columns (N, C * kernel, blocks)
void fold(bool to_columns, const Tensor& image, const Tensor& columns, IntArrayRef kernel_size, IntArrayRef dilation,
          IntArrayRef padding, IntArrayRef stride) {
  const Tensor& result = to_columns ? columns : image;
  const std::string name = to_columns ? "im2col" : "col2im";
  const std::string kernel = name + "_" + metalloid::operators::metal_type(result.scalar_type(), name.c_str());
  if (result.numel() == 0) return;
  FoldParams params{};
  std::copy_n(image.strides().begin(), 4, params.image);
  std::copy_n(columns.strides().begin(), 3, params.columns);
  for (int axis = 0; axis < 2; ++axis) {
    params.sizes[axis] = static_cast<int>(image.size(axis + 2));
    params.kernel_size[axis] = static_cast<int>(kernel_size[axis]);
    params.stride[axis] = static_cast<int>(stride[axis]);
    params.padding[axis] = static_cast<int>(padding[axis]);
    params.dilation[axis] = static_cast<int>(dilation[axis]);
    params.blocks[axis] = static_cast<int>(
        sliding_window_count(image.size(axis + 2), padding[axis], dilation[axis], kernel_size[axis], stride[axis]));
  }
  params.channels = static_cast<int>(image.size(1));
  const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const metalloid::operators::Extent threads =
      to_columns
          ? metalloid::operators::Extent{extent(columns.size(2)), extent(columns.size(1)), extent(columns.size(0))}
          : metalloid::operators::Extent{extent(image.size(3)), extent(image.size(2)),
                                         extent(image.size(0) * image.size(1))};
  metalloid::operators::run(lib, kernel, threads, metalloid::operators::group_for(threads), result,
                            to_columns ? image : columns, params);
}

}  // namespace

Tensor& im2col_out_mps(const Tensor& input, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                       IntArrayRef stride, Tensor& output) {
  check_two(kernel_size, "kernel_size");
  check_two(dilation, "dilation");
  check_two(padding, "padding");
  check_two(stride, "stride");
  im2col_shape_check(input, Tensor(), kernel_size[0], kernel_size[1], dilation[0], dilation[1], padding[0], padding[1],
                     stride[0], stride[1]);
  const bool is_batch = input.dim() == 4;
  const Tensor image = is_batch ? input : input.unsqueeze(0);
  const auto blocks = [&](int axis) {
    return sliding_window_count(image.size(axis + 2), padding[axis], dilation[axis], kernel_size[axis], stride[axis]);
  };
  const DimVector sizes = {image.size(0), image.size(1) * kernel_size[0] * kernel_size[1], blocks(0) * blocks(1)};
  output.resize_(is_batch ? IntArrayRef(sizes) : IntArrayRef(sizes).slice(1));
  fold(true, image, is_batch ? output : output.unsqueeze(0), kernel_size, dilation, padding, stride);
  return output;
}

Tensor im2col_mps(const Tensor& input, IntArrayRef kernel_size, IntArrayRef dilation, IntArrayRef padding,
                  IntArrayRef stride) {
  Tensor output = at::empty({0}, input.options());
  return im2col_out_mps(input, kernel_size, dilation, padding, stride, output);
}

Tensor& col2im_out_mps(const Tensor& input, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                       IntArrayRef padding, IntArrayRef stride, Tensor& output) {
  check_two(output_size, "output_size");
  check_two(kernel_size, "kernel_size");
  check_two(dilation, "dilation");
  check_two(padding, "padding");
  check_two(stride, "stride");
  col2im_shape_check(input, Tensor(), output_size[0], output_size[1], kernel_size[0], kernel_size[1], dilation[0],
                     dilation[1], padding[0], padding[1], stride[0], stride[1]);
  const bool is_batch = input.dim() == 3;
  const Tensor columns = is_batch ? input : input.unsqueeze(0);
  const DimVector sizes = {columns.size(0), columns.size(1) / (kernel_size[0] * kernel_size[1]), output_size[0],
                           output_size[1]};
  output.resize_(is_batch ? IntArrayRef(sizes) : IntArrayRef(sizes).slice(1));
  fold(false, is_batch ? output : output.unsqueeze(0), columns, kernel_size, dilation, padding, stride);
  return output;
}

Tensor col2im_mps(const Tensor& input, IntArrayRef output_size, IntArrayRef kernel_size, IntArrayRef dilation,
                  IntArrayRef padding, IntArrayRef stride) {
  Tensor output = at::empty({0}, input.options());
  return col2im_out_mps(input, output_size, kernel_size, dilation, padding, stride, output);
}

}  // namespace at::native
