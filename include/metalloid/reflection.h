// What a library says about its kernels: names, arguments, limits, function constants.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace metalloid {

// Metal's limits on Apple silicon (Metal Feature Set Tables, 2026-05).
inline constexpr std::uint32_t max_threads_per_threadgroup = 1024;
inline constexpr std::uint32_t max_threadgroup_memory_bytes = 32 * 1024;
inline constexpr std::uint32_t max_buffer_arguments = 31;
inline constexpr std::uint32_t max_inline_bytes = 4096;
inline constexpr std::uint32_t simdgroup_width = 32;

// Numbered as in LLVM IR that the front end emits.
enum class AddressSpace : std::uint8_t { thread = 0, device = 1, constant = 2, threadgroup = 3 };

enum class ScalarKind : std::uint8_t {
  none,  // a struct, or a type without elements of its own (void)
  boolean,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
};

// Size of one element in bytes; 0 for ScalarKind::none.
std::uint32_t size_of(ScalarKind kind);
// "bool", "i8", ..., "bf16", "f32"; "struct" for none.
std::string_view name_of(ScalarKind kind);

struct TypeInfo;

struct StructMember {
  std::string name;
  std::uint64_t offset = 0;    // bytes from the start of the struct
  std::vector<TypeInfo> type;  // exactly one element (TypeInfo is incomplete here)
};

// An MSL type as a host sees it in memory.
struct TypeInfo {
  std::string name;                      // as Metal spells it: "float4", "packed_char4", "Params"
  ScalarKind scalar = ScalarKind::none;  // element kind of scalars, vectors, matrices, atomics, arrays
  std::uint32_t rows = 1;                // vector length, or rows of a matrix
  std::uint32_t columns = 1;             // columns of a matrix, else 1
  std::uint64_t array_length = 0;        // elements of a (flattened) array type, 0 if not an array
  std::uint64_t size = 0;                // bytes, padding included; 0 for void
  std::uint64_t alignment = 1;           // bytes
  bool is_atomic = false;
  std::vector<StructMember> members;  // of a struct, in declaration order
};

enum class ArgumentKind : std::uint8_t {
  buffer,
  threadgroup_memory,
  builtin,
  texture,
  sampler,
  tensor,  // a metal::tensor with a tensor_handle; its index is one of the buffers'
};

enum class Access : std::uint8_t { read, read_write };

// The values that a kernel reads through an attributed argument (MSL spec table 5.8).
enum class Builtin : std::uint8_t {
  none,
  thread_position_in_grid,
  thread_position_in_threadgroup,
  thread_index_in_threadgroup,
  threadgroup_position_in_grid,
  threads_per_grid,
  threads_per_threadgroup,
  dispatch_threads_per_threadgroup,
  threadgroups_per_grid,
  thread_index_in_simdgroup,
  simdgroup_index_in_threadgroup,
  threads_per_simdgroup,
  simdgroups_per_threadgroup,
  dispatch_simdgroups_per_threadgroup,
  thread_index_in_quadgroup,
  quadgroup_index_in_threadgroup,
  quadgroups_per_threadgroup,
  dispatch_quadgroups_per_threadgroup,
  grid_origin,
  grid_size,
  thread_index_in_grid,
};

// The attribute's spelling; empty for Builtin::none.
std::string_view name_of(Builtin builtin);

struct ArgumentInfo {
  std::string name;
  ArgumentKind kind = ArgumentKind::buffer;
  std::uint32_t index = 0;  // of its class: buffer(n), threadgroup(n), texture(n), sampler(n)
  AddressSpace address_space = AddressSpace::device;
  Access access = Access::read_write;
  TypeInfo type;  // pointee of buffers and threadgroup memory, element of tensors, else the value's type
  // Of a tensor, one per dimension, the fastest first; -1 where the dispatch decides.
  std::vector<std::int64_t> extents = {};
  bool is_reference = false;  // `constant T&`: exactly one object, so its size is required
  Builtin builtin = Builtin::none;
  // Name (symbol in IR) of the boolean function constant that gates the argument; empty: always there.
  std::string gate;
  // False in a specialised kernel whose gate is false: nothing needs to be bound.
  bool is_active = true;
};

struct FunctionConstantInfo {
  std::string name;
  std::uint32_t index = 0;
  TypeInfo type;
  std::string symbol;  // global in IR
};

struct KernelInfo {
  std::string name;                                                 // host_name, else the qualified C++ name
  std::string symbol;                                               // function in IR
  std::vector<ArgumentInfo> arguments;                              // in parameter order, one per IR parameter
  std::uint32_t max_total_threads_per_threadgroup = 0;              // from the attribute; 0 if absent
  std::array<std::uint32_t, 3> required_threads_per_threadgroup{};  // all 0 if absent
  std::uint64_t static_threadgroup_memory = 0;                      // bytes
  std::vector<std::string> function_constants;                      // names of those it depends on
  std::string source_file;
  std::uint32_t source_line = 0;
};

// A function that Metal would offer and Metalloid does not (vertex, fragment, ...).
struct UnsupportedFunction {
  std::string name;
  std::string reason;
};

struct LibraryInfo {
  std::vector<KernelInfo> kernels;  // in source order
  std::vector<FunctionConstantInfo> function_constants;
  std::vector<UnsupportedFunction> unsupported;
};

}  // namespace metalloid
