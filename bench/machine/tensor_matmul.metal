// C = A * B for float matrices of n x n by Metal 4's tensor operations: four simdgroups compute 64 x 64 elements.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>
using namespace metal;
using namespace mpp::tensor_ops;

constant constexpr int size = 64;

kernel void tensor_matmul(device float* c, device float* a, device float* b, constant uint& n,
                          uint2 group [[threadgroup_position_in_grid]]) {
  using Matrix = tensor<device float, dextents<int, 2>, tensor_inline>;
  const dextents<int, 2> extents(n, n);
  constexpr auto descriptor = matmul2d_descriptor(size, size, dynamic_length_v<int>);
  matmul2d<descriptor, execution_simdgroups<4>> operation;
  auto rows = Matrix(a, extents).slice(0, int(group.y) * size);
  auto columns = Matrix(b, extents).slice(int(group.x) * size, 0);
  auto target = Matrix(c, extents).slice(int(group.x) * size, int(group.y) * size);
  operation.run(rows, columns, target);
}
