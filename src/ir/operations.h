// The opaque operations that MSL's library functions become and that every engine lowers.
//
//   void metalloid.threadgroup_barrier(i32 flags, i32 order, i32 scope)
//   void metalloid.simdgroup_barrier(i32 flags, i32 order, i32 scope)
//        Threads meet, and what they wrote before to the memory that `flags` names is seen behind it, as far as
//        `order` and `scope` (below) say. Without either in the source: acquire and release, among those who meet.
//   void metalloid.turn_end()
//        The end of a turn of a loop (meeting_order.h): lanes of a simdgroup that are in the loop wait for each other,
//        and nothing else. Made by the front end and by passes, by no source.
//   void metalloid.fence(i32 flags, i32 order, i32 scope)
//        atomic_thread_fence: nobody waits. Orders what comes before and behind it, atomic or not.
//        flags: of MemoryFlag, 0 orders nothing. order: MemoryOrder, relaxed orders nothing. scope: MemoryScope.
//        They are constants once all is inlined, unless the source computes them.
//   i32  metalloid.thread_index()                      thread within the threadgroup; 32 neighbours are a simdgroup
//   T    metalloid.<group>.<reduction>.<type>(T)       group: simd | quad
//        reduction: sum product min max and or xor
//                   prefix_inclusive_sum prefix_exclusive_sum prefix_inclusive_product prefix_exclusive_product
//        type: i32 u32 i64 u64 f16 f32 (and, or, xor only on u32 and u64; narrower types are widened by the
//        library, bfloat goes through f32)
//   T    metalloid.<group>.<permute>.<b32|b64>(T value, i32 operand)
//        permute: broadcast shuffle shuffle_up shuffle_down shuffle_xor rotate_up rotate_down
//        operand: lane, distance or mask; a lane without a source keeps its own value
//   T    metalloid.<group>.broadcast_first.<b32|b64>(T value)
//   i64  metalloid.<group>.ballot(i1)                  bit per lane of the group; ballot(true): active lanes
//   <2 x float> metalloid.simdgroup_matrix.multiply_accumulate.<a>.<b>(<2 x A> a, <2 x B> b, <2 x float> c)
//        a * b + c for 8x8 matrices spread over the 32 lanes of a simdgroup; a, b: f16 bf16 f32, where bf16 travels
//        as i16. Lane bits b4..b0 hold row b4*4 + b2*2 + b1, columns b3*4 + b0*2 and the next. An element is the
//        chain fma(a[i][7], b[7][j], ... fma(a[i][0], b[0][j], c[i][j])) in float. It reads no memory, and needs
//        all lanes of the simdgroup: what lanes that do not take part hold counts as zero.
//   <2 x T> metalloid.simdgroup_matrix.transpose.<t>(<2 x T> x)
//   <2 x T> metalloid.simdgroup_matrix.<zip_low|zip_high|unzip_even|unzip_odd>.<t>(<2 x T> x, <2 x T> y)
//        The same matrices with their elements elsewhere; t: f16 bf16 f32. The last four move pairs of columns: of
//        x0 x1 x2 x3 and y0 y1 y2 y3 they make x0 y0 x1 y1, x2 y2 x3 y3, x0 x2 y0 y2, x1 x3 y1 y3.
//   void metalloid.log(i32 thread_index, i32 level, ptr addrspace(2) subsystem, ptr addrspace(2) category,
//                      ptr addrspace(2) format, ptr arguments, i32 count)
//        a message of os_log: level 0 debug, 1 info, 2 default, 3 error, 4 fault; a format as of printf; each argument
//        is {i32 kind, i32 elements, i32 bytes of one, i32 unused, [4 x i64] values}, kind 0 signed, 1 unsigned (both
//        widened), 2 floating (bits of a float), 3 text (its address in constant memory), 4 address. The kernel's line
//        is the call's debug location.
//   i1   metalloid.function_constant.defined(ptr addrspace(2))
//
// Only active lanes take part. What LLVM may assume of each is stated in the table in operations.cpp, and nowhere else.
//
// Atomic accesses are LLVM's own instructions, with the order of the source and one of the scopes below: that of the
// memory they go to. Plain accesses of threadgroup and device memory order nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/Support/ModRef.h>

namespace metalloid::ir {

inline constexpr std::string_view operation_prefix = "metalloid.";
inline constexpr std::string_view threadgroup_barrier_name = "metalloid.threadgroup_barrier";
inline constexpr std::string_view simdgroup_barrier_name = "metalloid.simdgroup_barrier";
inline constexpr std::string_view turn_end_name = "metalloid.turn_end";
inline constexpr std::string_view fence_name = "metalloid.fence";
inline constexpr std::string_view thread_index_name = "metalloid.thread_index";
inline constexpr std::string_view log_name = "metalloid.log";
inline constexpr std::string_view constant_defined_name = "metalloid.function_constant.defined";

// metal::mem_flags, thread_scope and memory_order, by Metal's and C's numbers.
enum MemoryFlag : std::uint32_t { device_memory = 1, threadgroup_memory = 2, texture_memory = 4 };
enum class MemoryScope : std::uint32_t { thread = 0, threadgroup = 1, device = 2, system = 3, simdgroup = 4 };
enum class MemoryOrder : std::uint32_t { relaxed = 0, acquire = 2, release = 3, acquire_release = 4, sequential = 5 };

// Synchronisation scopes of atomic instructions.
inline constexpr std::string_view device_scope_name = "metalloid.device";
inline constexpr std::string_view threadgroup_scope_name = "metalloid.threadgroup";

enum class LaneGroup { simd, quad };

enum class CrossLane {
  sum,
  product,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  prefix_inclusive_sum,
  prefix_exclusive_sum,
  prefix_inclusive_product,
  prefix_exclusive_product,
  broadcast,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  rotate_up,
  rotate_down,
  broadcast_first,
  ballot,
};

enum class LaneType { i32, u32, i64, u64, f16, f32, b32, b64, boolean };

struct CrossLaneOperation {
  LaneGroup group;
  CrossLane operation;
  LaneType type;
};

// Takes "metalloid.simd.sum.f32" apart; nothing for any other name.
std::optional<CrossLaneOperation> parse_cross_lane(std::string_view function_name);

enum class MatrixElement { f16, bf16, f32 };

enum class MatrixAction : std::uint8_t { multiply_accumulate, transpose, zip_low, zip_high, unzip_even, unzip_odd };

struct MatrixOperation {
  MatrixAction action;
  MatrixElement a, b;  // of the first two operands
};

// Takes "metalloid.simdgroup_matrix.multiply_accumulate.f16.f32" apart; nothing for any other name.
std::optional<MatrixOperation> parse_matrix_operation(std::string_view function_name);

// Types of results and parameters. `first` and `second` are those that the name ends in; pairs for matrices.
enum class OperationType : std::uint8_t {
  nothing,
  i1,
  i32,
  i64,
  pair_f32,
  thread_pointer,
  constant_pointer,
  first,
  second
};

// An entry of the closed list: functions that differ in the parts of their names in <>.
struct Operation {
  std::string_view pattern;
  OperationType result;
  std::vector<OperationType> parameters;
  llvm::MemoryEffects memory;
  bool is_convergent;
  bool will_return;  // else a thread may wait in it for ever
  bool is_meeting;   // threads wait for each other
};

// The whole list. A new operation is added to it, or no kernel may call it.
std::span<const Operation> all_operations();
// The entry that a name belongs to; null for others.
const Operation* find_operation(std::string_view function_name);
// All names of an entry.
std::vector<std::string> names_of(const Operation& operation);
// The type of a function of the list.
llvm::FunctionType* type_of(std::string_view function_name, llvm::LLVMContext& context);

// True for the operations at which threads wait for each other.
bool is_meeting(std::string_view function_name);
// True for those of them at which lanes of a simdgroup may be among themselves: not for barriers of the threadgroup, to
// which all threads come, nor for ends of turns, which are made for these.
bool is_lane_meeting(std::string_view function_name);

}  // namespace metalloid::ir
