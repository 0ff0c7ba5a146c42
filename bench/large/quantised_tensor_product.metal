// The same product as in quantised_product.metal by tensor operations of four simdgroups: a tile of W is unpacked into
// threadgroup memory, x is read where it lies.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_tensor>

#include "quantised.h"

using namespace metal;
using namespace mpp::tensor_ops;

constant constexpr int rows_per_group = 64, columns_per_group = 32;

struct Sizes {
  uint rows, columns, depth;
};

using Input = tensor<device half, dextents<int, 2>, tensor_inline>;
using Output = tensor<device float, dextents<int, 2>, tensor_inline>;
using Unpacked = tensor<threadgroup half, dextents<int, 2>, tensor_inline>;

kernel void quantised_tensor_product(device float* y [[buffer(0)]], device half* x [[buffer(1)]],
                                     device const Block* weights [[buffer(2)]], constant Sizes& sizes [[buffer(3)]],
                                     uint2 group [[threadgroup_position_in_grid]],
                                     uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup half memory[columns_per_group * block_size];
  Output result(y, dextents<int, 2>(sizes.columns, sizes.rows));
  Input input(x, dextents<int, 2>(sizes.depth, sizes.rows));
  Unpacked unpacked(memory, dextents<int, 2>(block_size, columns_per_group));
  constexpr auto descriptor = matmul2d_descriptor(rows_per_group, columns_per_group, block_size, false, true, false,
                                                  matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<descriptor, execution_simdgroups<4>> operation;
  auto sums = operation.get_destination_cooperative_tensor<Input, Unpacked, float>();
  for (ushort i = 0; i < sums.get_capacity(); ++i) sums[i] = 0;

  const int row = group.y * rows_per_group, column = group.x * columns_per_group;
  const int blocks = sizes.depth / block_size;
  for (int block = 0; block < blocks; ++block) {
    if (thread_index < uint(columns_per_group)) {
      unpack(weights[(column + int(thread_index)) * blocks + block], memory + thread_index * block_size);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto left = input.slice(block * int(block_size), row);
    operation.run(left, unpacked, sums);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  sums.store(result.slice(column, row));
}
