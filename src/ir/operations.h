// The operations of the IR as C++ sees them. operations.def is the list, and says what each one is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/ModRef.h>

#include "ir/tile_elements.h"

namespace metalloid::ir {

inline constexpr std::string_view operation_prefix = "metalloid.";
// threadgroup_barrier_name, fence_name and so on, for each OPERATION.
#define OPERATION(name, spelling, ...) inline constexpr std::string_view name##_name = "metalloid." spelling;
#include "ir/operations.def"

// metal::mem_flags, thread_scope and memory_order, by Metal's and C's numbers.
enum MemoryFlag : std::uint32_t { device_memory = 1, threadgroup_memory = 2, texture_memory = 4 };
enum class MemoryScope : std::uint32_t { thread = 0, threadgroup = 1, device = 2, system = 3, simdgroup = 4 };
enum class MemoryOrder : std::uint32_t { relaxed = 0, acquire = 2, release = 3, acquire_release = 4, sequential = 5 };

// Synchronisation scopes of atomic instructions.
inline constexpr std::string_view device_scope_name = "metalloid.device";
inline constexpr std::string_view threadgroup_scope_name = "metalloid.threadgroup";

enum class LaneGroup {
#define LANE_GROUP(name) name,
#include "ir/operations.def"
};

enum class CrossLane {
#define LANE_OPERATION(name, ...) name,
#include "ir/operations.def"
};

enum class LaneType {
#define LANE_TYPE(name, ...) name,
#include "ir/operations.def"
};

struct CrossLaneOperation {
  LaneGroup group;
  CrossLane operation;
  LaneType type;
};

enum class MatrixElement {
#define MATRIX_ELEMENT(name, ...) name,
#include "ir/operations.def"
};

enum class MatrixAction : std::uint8_t {
#define MATRIX_OPERATION(name, ...) name,
#include "ir/operations.def"
};

struct MatrixOperation {
  MatrixAction action;
  MatrixElement a, b;  // of the first two operands
};

// Types of results and parameters.
enum class OperationType : std::uint8_t {
  nothing,
  i1,
  i32,
  i64,
  thread_pointer,
  device_pointer,
  constant_pointer,
  threadgroup_pointer,
  value,     // of an operation across lanes: its LaneType
  matrix_a,  // pairs of the elements of a matrix operation
  matrix_b,
  matrix_f16,
  matrix_bf16,
  matrix_f32,
};

struct OperationEffects {
  llvm::MemoryEffects memory;
  bool is_convergent;
  bool will_return;  // else a thread may wait in it for ever
  bool is_meeting;   // threads wait for each other
};

struct Operation : OperationEffects {
  std::string name;
  OperationType result;
  std::vector<OperationType> parameters;
  // What it is, of operations across lanes and on matrices.
  std::optional<CrossLaneOperation> cross_lane;
  std::optional<MatrixOperation> matrix;
  // Of whole operations, the part of the name that does not depend on types: "matmul2d.simdgroup".
  std::string whole;
};

// The whole list, each function by itself.
std::span<const Operation> all_operations();
// Null or nothing for names that are not in it.
const Operation* find_operation(std::string_view function_name);
std::optional<CrossLaneOperation> parse_cross_lane(std::string_view function_name);
std::optional<MatrixOperation> parse_matrix_operation(std::string_view function_name);
llvm::FunctionType* type_of(std::string_view function_name, llvm::LLVMContext& context);
// That of its operations that has the type.
const Operation* find_whole_operation(std::string_view whole, const llvm::FunctionType& type);

// True for the operations at which threads wait for each other.
bool is_meeting(std::string_view function_name);
// True for those of them at which lanes of a simdgroup may be among themselves: not for barriers of the threadgroup, to
// which all threads come, nor for ends of turns, which are made for these.
bool is_lane_meeting(std::string_view function_name);

}  // namespace metalloid::ir
