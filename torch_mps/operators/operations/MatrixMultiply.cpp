// mm, bmm, addmm and what is one product of matrices; ConvolutionProduct.cpp uses it too.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/addbmm_native.h>
#include <ATen/ops/addmm_native.h>
#include <ATen/ops/addmv_native.h>
#include <ATen/ops/addr_native.h>
#include <ATen/ops/baddbmm_native.h>
#include <ATen/ops/bmm_native.h>
#include <ATen/ops/dot_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear_backward_native.h>
#include <ATen/ops/linear_native.h>
#include <ATen/ops/mm_native.h>
#include <ATen/ops/result_type.h>
#include <ATen/ops/vdot_native.h>

#include <ATen/native/mps/MatrixMultiply_metallib.h>

#include "convolution.h"
#include "kernels.h"

namespace at::native {

namespace {

struct MatmulParams {
  std::int64_t rows, columns, depth;
  std::int64_t first[3], second[3], input[3], result[3];
  float alpha[2], beta[2];
  std::int64_t integer_alpha, integer_beta;
  int scales, has_input;
};

void set_scalar(const Scalar& scalar, ScalarType type, float (&real)[2], std::int64_t& whole) {
  if (isIntegralType(type, /*includeBool=*/true)) {
    whole = scalar.toLong();
  } else if (isComplexType(type)) {
    const auto value = scalar.toComplexFloat();
    real[0] = value.real();
    real[1] = value.imag();
  } else {
    real[0] = scalar.toFloat();
  }
}

struct Tile {
  std::uint64_t rows, columns;
};

// The one that makes the least of rows and columns that are not there, and of operands that are brought several times:
// an element that lies across the other's direction costs more.
Tile tile_of(const MatmulParams& params, std::uint64_t batches) {
  constexpr Tile tiles[] = {{128, 128}, {112, 128}, {112, 112}, {64, 128}, {64, 112}, {64, 64}, {16, 128}};
  const std::uint64_t rows = params.rows, columns = params.columns;
  const double left = params.first[2] == 1 ? 2 : 8, right = params.second[2] == 1 ? 2 : 8;
  Tile best = tiles[0];
  double least = 0;
  for (const Tile& tile : tiles) {
    const std::uint64_t count =
        (rows + tile.rows - 1) / tile.rows * ((columns + tile.columns - 1) / tile.columns) * batches;
    const auto m = static_cast<double>(tile.rows), n = static_cast<double>(tile.columns);
    const double cost = (static_cast<double>(count) + 1) * (m * n + m * left + n * right);  // the last ones end alone
    if (least == 0 || cost < least) {
      best = tile;
      least = cost;
    }
  }
  return best;
}

// result = beta * input + alpha * first @ second, all of three dimensions. Where beta is 0 input is not read.
void multiply(const Tensor& first_, const Tensor& second_, const Tensor& input, const Scalar& beta, const Scalar& alpha,
              const Tensor& result) {
  TORCH_CHECK(first_.scalar_type() == second_.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", first_.dtype(), " != ", second_.dtype());
  TORCH_CHECK_NOT_IMPLEMENTED(result.scalar_type() != kBool, "\"addmm_impl_mps_\" not implemented for 'Bool'");
  const std::string type = metalloid::operators::metal_type(result.scalar_type(), "addmm_impl_mps_");
  if (result.numel() == 0) return;
  const Tensor first = first_.resolve_conj().resolve_neg(), second = second_.resolve_conj().resolve_neg();
  if (result.is_conj() || result.is_neg()) {
    const Tensor plain = at::empty(result.sizes(), result.options());
    multiply(first, second, input, beta, alpha, plain);
    result.copy_(plain);
    return;
  }
  MatmulParams params{};
  params.rows = result.size(1);
  params.columns = result.size(2);
  params.depth = first.size(2);
  params.has_input = input.defined() && !beta.equal(0);
  params.scales = !alpha.equal(1);
  set_scalar(alpha, result.scalar_type(), params.alpha, params.integer_alpha);
  set_scalar(beta, result.scalar_type(), params.beta, params.integer_beta);
  const Tensor before = params.has_input ? input.resolve_conj().resolve_neg() : result;
  for (int axis = 0; axis < 3; ++axis) {
    params.first[axis] = first.stride(axis);
    params.second[axis] = second.stride(axis);
    params.input[axis] = before.stride(axis);
    params.result[axis] = result.stride(axis);
  }
  const std::uint64_t batches = result.size(0), rows = params.rows, columns = params.columns;
  const bool is_float = at::isFloatingType(result.scalar_type());
  const bool adds = params.has_input && beta.equal(1);
  if (is_float && rows >= 2 && rows <= 16 && columns >= 16 && params.depth >= 64 && params.first[2] == 1 &&
      params.second[1] == 1) {
    metalloid::operators::run(lib, "matmul_few_" + type, {(columns + 1) / 2 * 32, 1, batches}, {32, 1, 1}, result,
                              first, second, before, params);
  } else if (is_float && !params.scales && (adds || !params.has_input) && rows >= 4 && columns >= 16 &&
             params.depth >= 8) {
    const Tile tile = tile_of(params, batches);
    const std::string kernel = (adds ? "matmul_tensors_added_" : "matmul_tensors_") + std::to_string(tile.rows) + "_" +
                               std::to_string(tile.columns) + "_";
    metalloid::operators::run(
        lib, kernel + type,
        {(columns + tile.columns - 1) / tile.columns * 32, (rows + tile.rows - 1) / tile.rows, batches}, {32, 1, 1},
        result, first, second, before, params);
  } else if (rows >= 16 && columns >= 16 && params.depth >= 8) {
    metalloid::operators::run(lib, "matmul_tiled_" + type, {(columns + 31) / 32 * 64, (rows + 31) / 32, batches},
                              {64, 1, 1}, result, first, second, before, params);
  } else if (params.depth >= 128 &&
             (batches * rows * columns <= 256 || (params.first[2] == 1 && params.second[1] == 1))) {
    metalloid::operators::run(lib, "matmul_simd_" + type, {columns * 32, rows, batches}, {32, 1, 1}, result, first,
                              second, before, params);
  } else {
    const metalloid::operators::Extent threads = {columns, rows, batches};
    metalloid::operators::run(lib, "matmul_each_" + type, threads, metalloid::operators::group_for(threads), result,
                              first, second, before, params);
  }
}

}  // namespace

}  // namespace at::native

void metalloid::operators::multiply_matrices(const at::Tensor& first, const at::Tensor& second, const at::Tensor& input,
                                             const at::Scalar& beta, const at::Scalar& alpha,
                                             const at::Tensor& result) {
  at::native::multiply(first, second, input, beta, alpha, result);
}

namespace at::native {

namespace {

// Matrices.
void multiply_one(const Tensor& first, const Tensor& second, const Tensor& input, const Scalar& beta,
                  const Scalar& alpha, const Tensor& result) {
  multiply(first.unsqueeze(0), second.unsqueeze(0), input.defined() ? input.unsqueeze(0) : input, beta, alpha,
           result.unsqueeze(0));
}

void check_dot(const Tensor& self, const Tensor& other) {
  TORCH_CHECK(self.dim() == 1 && other.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ", other.dim(),
              "D tensors");
  TORCH_CHECK(self.scalar_type() == other.scalar_type(), "dot : expected both vectors to have same dtype, but found ",
              self.scalar_type(), " and ", other.scalar_type());
  TORCH_CHECK(self.numel() == other.numel(), "inconsistent tensor size, expected tensor [", self.numel(), "] and src [",
              other.numel(), "] to have the same number of elements, but got ", self.numel(), " and ", other.numel(),
              " elements respectively");
  TORCH_CHECK(self.device() == other.device(),
              "Expected all tensors to be on the same device, but found at least two devices, ", self.device(), " and ",
              other.device(), "!");
}

Tensor dot_of(const Tensor& self, const Tensor& other) {
  const Tensor result = at::empty({}, self.options());
  multiply(self.view({1, 1, -1}), other.view({1, -1, 1}), {}, 0, 1, result.view({1, 1, 1}));
  return result;
}

void check_scalar(ScalarType type, const Scalar& scalar, const char* name) {
  TORCH_CHECK(isFloatingType(type) || isComplexType(type) || scalar.isIntegral(/*includeBool=*/true),
              "For integral input tensors, argument ", name, " must not be a floating point number.");
  TORCH_CHECK(isComplexType(type) || !scalar.isComplex(), "For non-complex input tensors, argument ", name,
              " must not be a complex number.");
  TORCH_CHECK(type == kBool || !scalar.isBoolean(), "Boolean ", name, " only supported for Boolean results.");
}

}  // namespace

TORCH_IMPL_FUNC(mm_out_mps)(const Tensor& self, const Tensor& mat2, const Tensor& result) {
  multiply_one(self, mat2, {}, 0, 1, result);
}

TORCH_IMPL_FUNC(addmm_out_mps)
(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha,
 const Tensor& result) {
  multiply_one(mat1, mat2, self.expand(result.sizes()), beta, alpha, result);
}

TORCH_IMPL_FUNC(bmm_out_mps)(const Tensor& batch1, const Tensor& batch2, const Tensor& result) {
  multiply(batch1, batch2, {}, 0, 1, result);
}

TORCH_IMPL_FUNC(baddbmm_out_mps)
(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha,
 const Tensor& result) {
  multiply(batch1, batch2, self.expand(result.sizes()), beta, alpha, result);
}

TORCH_IMPL_FUNC(addmv_out_mps)
(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha,
 const Tensor& result) {
  multiply_one(mat, vec.unsqueeze(1), self.expand(result.sizes()).unsqueeze(1), beta, alpha, result.unsqueeze(1));
}

Tensor& addr_out_mps(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                     const Scalar& alpha, Tensor& result) {
  TORCH_CHECK(vec1.dim() == 1 && vec2.dim() == 1, "addr: Expected 1-D argument vec1 and vec2, but got ", vec1.dim(),
              "-D and ", vec2.dim(), "-D");
  const std::array<std::int64_t, 2> sizes = {vec1.size(0), vec2.size(0)};
  const ScalarType type = promoteTypes(at::result_type(self, vec1), vec2.scalar_type());
  check_scalar(type, beta, "beta");
  check_scalar(type, alpha, "alpha");
  const auto input = self.expand(sizes);
  TORCH_CHECK(canCast(type, result.scalar_type()), "result type ", type, " can't be cast to the desired output type ",
              result.scalar_type());
  result.resize_(sizes);
  // Of Boolean tensors "and" is a product and "or" whether a sum is 0.
  const ScalarType number = type == kBool ? kByte : type;
  const bool is_direct = result.scalar_type() == number && !result.is_alias_of(vec1) && !result.is_alias_of(vec2) &&
                         (!result.is_alias_of(self) || result.is_same(self));
  const Tensor sum = is_direct ? result : at::empty(sizes, result.options().dtype(number));
  multiply_one(vec1.to(number).unsqueeze(1), vec2.to(number).unsqueeze(0), input.to(number), beta, alpha, sum);
  if (!is_direct) result.copy_(type == kBool ? sum.to(kBool) : sum);
  return result;
}

Tensor addr_mps(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  const ScalarType type = promoteTypes(at::result_type(self, vec1), vec2.scalar_type());
  Tensor result = at::empty({0}, self.options().dtype(type));
  return addr_out_mps(self, vec1, vec2, beta, alpha, result);
}

Tensor& addbmm_out_mps(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                       const Scalar& alpha, Tensor& result) {
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  TORCH_CHECK(batch1.size(0) == batch2.size(0), "batch1 and batch2 must have same number of batches, got ",
              batch1.size(0), " and ", batch2.size(0));
  TORCH_CHECK(batch1.size(2) == batch2.size(1), "Incompatible matrix sizes for bmm (", batch1.size(1), "x",
              batch1.size(2), " and ", batch2.size(1), "x", batch2.size(2), ")");
  TORCH_CHECK(self.scalar_type() == batch1.scalar_type() && self.scalar_type() == result.scalar_type(),
              "Input dtypes must be the same, got: input: ", self.dtype(), ", batch1: ", batch1.dtype(),
              ", batch2: ", batch2.dtype());
  const std::int64_t rows = batch1.size(1), columns = batch2.size(2), batches = batch1.size(0);
  const Tensor input = self.expand({rows, columns});
  if (!result.is_same(self)) result.resize_({rows, columns});
  TORCH_CHECK(result.dim() == 2 && result.size(0) == rows && result.size(1) == columns,
              "The expanded size of the tensor (", columns, ") must match the existing size of self");
  // Sums of 16 bits are rounded after each product, as the CPU's are.
  if (batches == 0)
    multiply_one(batch1.new_empty({rows, 0}), batch2.new_empty({0, columns}), input, beta, alpha, result);
  for (std::int64_t i = 0; i < batches; ++i) {
    multiply_one(batch1[i], batch2[i], i == 0 ? input : result, i == 0 ? beta : Scalar(1), alpha, result);
  }
  return result;
}

Tensor& addbmm_mps_(Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return addbmm_out_mps(self, batch1, batch2, beta, alpha, self);
}

Tensor addbmm_mps(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                  const Scalar& alpha) {
  Tensor result = at::empty({0}, self.options());
  return addbmm_out_mps(self, batch1, batch2, beta, alpha, result);
}

Tensor dot_mps(const Tensor& self, const Tensor& other) {
  check_dot(self, other);
  return dot_of(self, other);
}

Tensor vdot_mps(const Tensor& self, const Tensor& other) {
  check_dot(self, other);
  return dot_of(self.conj(), other);
}

static void check_linear(const Tensor& tensor, const char* argument, const char* plural) {
  const ScalarType type = tensor.scalar_type();
  TORCH_CHECK(isFloatingType(type) || isComplexType(type), "MPS device does not support linear for non-float ", plural);
  TORCH_CHECK(tensor.is_mps(), "Tensor for argument ", argument, " is on ", tensor.device(), " but expected on mps");
}

Tensor _mps_linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const Tensor added = bias.value_or(Tensor());
  check_linear(input, "input", "inputs");
  check_linear(weight, "weight", "weights");
  if (added.defined()) check_linear(added, "bias", "bias");
  TORCH_CHECK(input.dim() > 0, "linear(): argument 'input' must have at least one dimension");
  TORCH_CHECK(weight.dim() == 2 || weight.dim() == 1, "linear: weight must have 1 or 2 dimensions, but it has ",
              weight.dim());
  const Tensor matrix = weight.dim() == 1 ? weight.unsqueeze(0) : weight;
  const std::int64_t depth = input.size(-1), columns = matrix.size(0);
  TORCH_CHECK(matrix.size(1) == depth, "linear(): input and weight.T shapes cannot be multiplied (",
              input.dim() > 1 ? input.size(-2) : 1, "x", depth, " and ", matrix.size(1), "x", columns, ")");
  TORCH_CHECK(input.scalar_type() == weight.scalar_type(), "mat1 and mat2 must have the same dtype, but got ",
              input.scalar_type(), " and ", weight.scalar_type());
  TORCH_CHECK(!added.defined() || added.scalar_type() == input.scalar_type(),
              "self and mat2 must have the same dtype, but got ", added.defined() ? added.scalar_type() : kFloat,
              " and ", input.scalar_type());
  DimVector sizes(input.sizes().begin(), input.sizes().end() - 1);
  std::int64_t rows = 1;
  for (const std::int64_t size : sizes) rows *= size;
  sizes.push_back(columns);
  const Tensor wide = added.defined() ? added.expand(sizes).reshape({rows, columns}) : added;
  const Tensor result = at::empty(sizes, input.options());
  multiply_one(input.reshape({rows, depth}), matrix.t(), wide, 1, 1, result.view({rows, columns}));
  return weight.dim() == 1 ? result.squeeze(-1) : result;
}

std::tuple<Tensor, Tensor, Tensor> mps_linear_backward(const Tensor& self, const Tensor& grad_output,
                                                       const Tensor& weight, std::array<bool, 3> output_mask) {
  const Tensor matrix = weight.dim() == 1 ? weight.unsqueeze(0) : weight;
  const std::int64_t columns = matrix.size(0), depth = matrix.size(1);
  const Tensor grad = grad_output.reshape({columns == 0 ? 0 : grad_output.numel() / columns, columns});
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) grad_input = grad.mm(matrix).view(self.sizes());
  if (output_mask[1]) grad_weight = grad.t().mm(self.reshape({grad.size(0), depth})).view(weight.sizes());
  if (output_mask[2]) grad_bias = grad.sum(IntArrayRef{0});
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace at::native
