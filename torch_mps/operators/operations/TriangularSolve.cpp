// linalg_solve_triangular.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/ExpandUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_solve_triangular_native.h>

#include <ATen/native/mps/TriangularSolve_metallib.h>

#include "kernels.h"

namespace at::native {

namespace {

struct TriangularSolveParams {
  std::int64_t matrix[3], solution[3];
  int size;
  int is_upper, has_unit_diagonal;
};

constexpr const char* name = "linalg.solve_triangular";

void check(const Tensor& matrix, const Tensor& other, bool left) {
  TORCH_CHECK(matrix.dim() >= 2, name, ": The input tensor A must have at least 2 dimensions.");
  TORCH_CHECK(other.dim() >= 2, name, ": The input tensor B must have at least 2 dimensions.");
  TORCH_CHECK(matrix.size(-1) == matrix.size(-2), name, ": A must be batches of square matrices, but they are ",
              matrix.size(-2), " by ", matrix.size(-1), " matrices");
  TORCH_CHECK(left ? matrix.size(-2) == other.size(-2) : matrix.size(-1) == other.size(-1), name,
              ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", matrix.size(-2),
              "x", matrix.size(-1), " and ", other.size(-2), "x", other.size(-1), ")");
  TORCH_CHECK(matrix.scalar_type() == other.scalar_type(), name,
              ": Expected A and B to have the same dtype, but found A ", "of type ", matrix.scalar_type(),
              " and B of type ", other.scalar_type());
}

// As (batch, row, column), where the batch is spread to what both have in common.
Tensor in_batches(const Tensor& tensor, IntArrayRef batch) {
  DimVector sizes(batch.begin(), batch.end());
  sizes.append({tensor.size(-2), tensor.size(-1)});
  std::int64_t batches = 1;
  for (const auto size : batch) batches *= size;
  return tensor.expand(sizes).reshape({batches, tensor.size(-2), tensor.size(-1)});
}

}  // namespace

Tensor linalg_solve_triangular_mps(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  check(A, B, left);
  const auto batch = infer_size(A.sizes().slice(0, A.dim() - 2), B.sizes().slice(0, B.dim() - 2));
  DimVector sizes(batch.begin(), batch.end());
  sizes.append({B.size(-2), B.size(-1)});
  Tensor result = at::empty(sizes, B.options());
  const auto type = metalloid::operators::metal_type(A.scalar_type(), "linalg_solve_triangular_mps");
  TORCH_CHECK_NOT_IMPLEMENTED(A.scalar_type() == kFloat || A.scalar_type() == kComplexFloat,
                              "\"linalg_solve_triangular_mps\" not implemented for '", A.scalar_type(), "'");
  result.copy_(B);
  if (result.numel() == 0) return result;
  // XA = B is the equation of the transposed matrices.
  Tensor matrix = in_batches(A.resolve_conj(), batch);
  Tensor solution = result.view({-1, B.size(-2), B.size(-1)});
  if (!left) {
    matrix = matrix.mT();
    solution = solution.mT();
  }
  TriangularSolveParams params{};
  std::copy_n(matrix.strides().begin(), 3, params.matrix);
  std::copy_n(solution.strides().begin(), 3, params.solution);
  params.size = static_cast<int>(matrix.size(1));
  params.is_upper = upper == left;
  params.has_unit_diagonal = unitriangular;
  const metalloid::operators::Extent threads = {static_cast<std::uint64_t>(solution.size(2)),
                                                static_cast<std::uint64_t>(solution.size(0)), 1};
  metalloid::operators::run(lib, std::string("triangular_solve_") + type, threads,
                            metalloid::operators::group_for(threads), solution, matrix, params);
  return result;
}

Tensor& linalg_solve_triangular_mps_out(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular,
                                        Tensor& result) {
  const Tensor solution = linalg_solve_triangular_mps(A, B, upper, left, unitriangular);
  TORCH_CHECK(canCast(solution.scalar_type(), result.scalar_type()), name,
              ": Expected result to be safely castable from ", solution.scalar_type(),
              " dtype, but got result with dtype ", result.scalar_type());
  result.resize_(solution.sizes());
  return result.copy_(solution);
}

}  // namespace at::native
