#include "ir/support/builtin_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

class Builtins {
 public:
  Builtins(llvm::IRBuilder<>& builder, const ThreadPlace& place) : builder_(builder), place_(place) {}

  Triple values_of(const ArgumentInfo& argument) {
    switch (argument.builtin) {
      case Builtin::thread_position_in_grid: return position_in_grid();
      case Builtin::thread_position_in_threadgroup: return place_.position;
      case Builtin::thread_index_in_threadgroup: return {place_.index};
      case Builtin::threadgroup_position_in_grid: return place_.group;
      case Builtin::threads_per_grid:
      case Builtin::grid_size: return place_.grid;
      case Builtin::threads_per_threadgroup: return place_.actual;
      case Builtin::dispatch_threads_per_threadgroup: return place_.nominal;
      case Builtin::threadgroups_per_grid: return place_.groups;
      case Builtin::thread_index_in_simdgroup: return {builder_.CreateURem(place_.index, constant(32))};
      case Builtin::simdgroup_index_in_threadgroup: return {builder_.CreateUDiv(place_.index, constant(32))};
      case Builtin::threads_per_simdgroup: return {constant(32)};
      case Builtin::simdgroups_per_threadgroup: return {groups_of(place_.actual, 32)};
      case Builtin::dispatch_simdgroups_per_threadgroup: return {groups_of(place_.nominal, 32)};
      case Builtin::thread_index_in_quadgroup: return {builder_.CreateURem(place_.index, constant(4))};
      case Builtin::quadgroup_index_in_threadgroup: return {builder_.CreateUDiv(place_.index, constant(4))};
      case Builtin::quadgroups_per_threadgroup: return {groups_of(place_.actual, 4)};
      case Builtin::dispatch_quadgroups_per_threadgroup: return {groups_of(place_.nominal, 4)};
      case Builtin::grid_origin: return {constant(0), constant(0), constant(0)};
      case Builtin::thread_index_in_grid: {
        const Triple at = position_in_grid();
        Value* row = builder_.CreateAdd(builder_.CreateMul(at[2], place_.grid[1]), at[1]);
        return {builder_.CreateAdd(builder_.CreateMul(row, place_.grid[0]), at[0])};
      }
      case Builtin::none: break;
    }
    throw Error(ErrorCode::internal, fmt::format("argument '{}' of a kernel has no meaning", argument.name));
  }

  Value* constant(std::uint32_t value) { return builder_.getInt32(value); }

 private:
  Value* multiply(Value* a, Value* b) { return builder_.CreateMul(a, b, "", /*HasNUW=*/true); }
  Value* add(Value* a, Value* b) { return builder_.CreateAdd(a, b, "", /*HasNUW=*/true); }

  // Grids have at most 2^32 - 1 threads per dimension, so nothing wraps.
  Triple position_in_grid() {
    if (place_.in_grid) return *place_.in_grid;
    Triple result;
    for (unsigned d = 0; d < 3; ++d) {
      result[d] = add(multiply(place_.group[d], place_.nominal[d]), place_.position[d]);
    }
    return result;
  }

  Value* groups_of(const Triple& threads, std::uint32_t width) {
    Value* count = multiply(multiply(threads[0], threads[1]), threads[2]);
    return builder_.CreateUDiv(add(count, constant(width - 1)), constant(width));
  }

  llvm::IRBuilder<>& builder_;
  const ThreadPlace& place_;
};

}  // namespace

Value* builtin_argument(llvm::IRBuilder<>& builder, const ThreadPlace& place, const ArgumentInfo& argument,
                        llvm::Type* type, Value* memory) {
  Builtins builtins(builder, place);
  const Triple values = builtins.values_of(argument);
  if (!memory) return builder.CreateZExtOrTrunc(values[0], type);
  const std::uint32_t size = std::max(size_of(argument.type.scalar), 1U);
  for (unsigned i = 0; i < std::min(argument.type.rows, 3U); ++i) {
    Value* element = values[i] ? values[i] : builtins.constant(0);
    builder.CreateStore(builder.CreateZExtOrTrunc(element, builder.getIntNTy(8 * size)),
                        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, i * size));
  }
  if (type->isPointerTy()) return memory;
  return builder.CreateLoad(type, memory);
}

}  // namespace metalloid::ir
