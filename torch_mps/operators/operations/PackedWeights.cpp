// Products with weights of 4 and 8 bits.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/_convert_weight_to_int4pack_native.h>
#include <ATen/ops/_weight_int4pack_mm_native.h>
#include <ATen/ops/_weight_int8pack_mm_native.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/PackedWeights_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

constexpr std::int64_t tile_rows = 8, tile_columns = 16, lanes = 32, weights_per_int = 8;

struct PackedWeightsParams {
  int rows, columns, inner, group;
};

void check_values(const Tensor& values, const char* function) {
  TORCH_CHECK(values.dim() == 2, function, " : expect A to be 2D tensor.");
  TORCH_CHECK(values.scalar_type() == kFloat || values.scalar_type() == kHalf || values.scalar_type() == kBFloat16,
              function, " : expect A to be either 32-bit or 16-bit float tensor, but it is of type ",
              values.scalar_type());
}

Tensor multiply(const std::string& kernel, const Tensor& values, const Tensor& weights, const Tensor& scales,
                std::int64_t columns, std::int64_t group) {
  Tensor result = at::empty({values.size(0), columns}, values.options());
  const PackedWeightsParams params = {static_cast<int>(values.size(0)), static_cast<int>(columns),
                                      static_cast<int>(values.size(1)), static_cast<int>(group)};
  const metalloid::operators::Extent threads = {static_cast<std::uint64_t>(columns),
                                                static_cast<std::uint64_t>(values.size(0)), 1};
  const auto type = metalloid::operators::metal_type(values.scalar_type(), "packed weights");
  metalloid::operators::run(lib, kernel + type, threads, metalloid::operators::group_for(threads), result,
                            values.contiguous(), weights.contiguous(), scales.contiguous(), params);
  return result;
}

}  // namespace

// Rows stay as they are: only the shape is that of CUDA's tiles, which torch expects on every device.
Tensor _convert_weight_to_int4pack_mps(const Tensor& weight, std::int64_t inner_tiles) {
  constexpr const char* name = "_convert_weight_to_int4pack_mps";
  TORCH_CHECK(weight.dim() == 2, name, " : expect weight to be 2D tensor.");
  TORCH_CHECK(weight.scalar_type() == kByte, name, " : expect weight to be kByte.");
  TORCH_CHECK(inner_tiles == 2 || inner_tiles == 4 || inner_tiles == 8, name,
              " : innerKTiles need to be 2, 4, or 8, got ", inner_tiles);
  const auto rows = weight.size(0), inner = weight.size(1) * 2, tile = tile_columns * inner_tiles;
  TORCH_CHECK(rows % tile_rows == 0, name, " : expect N to be dividable by ", tile_rows);
  TORCH_CHECK(inner % tile == 0, name, " : expect K to be dividable by ", tile);
  return weight.clone(MemoryFormat::Contiguous)
      .view(kInt)
      .view({rows / tile_rows, inner / tile, lanes, inner_tiles / 2});
}

Tensor _weight_int4pack_mm_mps(const Tensor& values, const Tensor& weights, std::int64_t group,
                               const Tensor& scales_and_zeros) {
  constexpr const char* name = "_weight_int4pack_mm_mps";
  check_values(values, name);
  TORCH_CHECK(weights.scalar_type() == kInt && weights.dim() == 4, name, " : expect B to be a 4D tensor of int32.");
  TORCH_CHECK(group == 32 || group == 64 || group == 128 || group == 256, name,
              " : expect qGroupSize to be 32, 64, 128 or 256, got ", group);
  const auto columns = weights.size(0) * tile_rows, inner = values.size(1);
  TORCH_CHECK(weights.numel() * weights_per_int == columns * inner, name, " : expect B to have ", inner,
              " weights in a row, as A's rows, but they are ", weights[0].numel() * weights_per_int / tile_rows);
  TORCH_CHECK(inner % group == 0, name, " : expect K to be dividable by qGroupSize ", group);
  TORCH_CHECK(scales_and_zeros.sizes() == IntArrayRef({inner / group, columns, 2}), name,
              " : expect qScaleAndZeros to be a 3D tensor of sizes [", inner / group, ", ", columns, ", 2]");
  return multiply("int4pack_mm_", values, weights, scales_and_zeros.to(values.scalar_type()), columns, group);
}

Tensor _weight_int8pack_mm_mps(const Tensor& values, const Tensor& weights, const Tensor& scales) {
  constexpr const char* name = "_weight_int8pack_mm_mps";
  check_values(values, name);
  TORCH_CHECK(weights.scalar_type() == kChar && weights.dim() == 2, name, " : expect B to be a 2D tensor of int8.");
  TORCH_CHECK(weights.size(1) == values.size(1), name, " : expect B.size(1) == ", values.size(1));
  TORCH_CHECK(scales.dim() == 1 && scales.size(0) == weights.size(0), name,
              " : expect scales to be 1D tensor with size ", weights.size(0));
  return multiply("int8pack_mm_", values, weights, scales.to(values.scalar_type()), weights.size(0), 0);
}

}  // namespace at::native
