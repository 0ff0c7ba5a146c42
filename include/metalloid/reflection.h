// What a library says about its kernels: names, arguments, limits, function constants.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "metalloid/element_type.h"

namespace metalloid {

// Metal's limits on Apple silicon (Metal Feature Set Tables, 2026-05).
inline constexpr std::uint32_t max_threads_per_threadgroup = 1024;
inline constexpr std::uint32_t max_threadgroup_memory_bytes = 32 * 1024;
inline constexpr std::uint32_t max_buffer_arguments = 31;
inline constexpr std::uint32_t max_inline_bytes = 4096;
inline constexpr std::uint32_t simdgroup_width = 32;

// What a device allows.
struct Limits {
  std::uint32_t threads_per_threadgroup = max_threads_per_threadgroup;
  std::uint32_t threadgroup_memory_bytes = max_threadgroup_memory_bytes;
  bool operator==(const Limits&) const = default;
};

// Numbered as in LLVM IR that the front end emits.
enum class AddressSpace : std::uint8_t { thread = 0, device = 1, constant = 2, threadgroup = 3 };

struct TypeInfo;

struct StructMember {
  std::string name;
  std::uint64_t offset = 0;    // bytes from the start of the struct
  std::vector<TypeInfo> type;  // exactly one element (TypeInfo is incomplete here)
};

// An MSL type as a host sees it in memory.
struct TypeInfo {
  std::string name;                        // as Metal spells it: "float4", "packed_char4", "Params"
  ElementType scalar = ElementType::none;  // element kind of scalars, vectors, matrices, atomics, arrays
  std::uint32_t rows = 1;                  // vector length, or rows of a matrix
  std::uint32_t columns = 1;               // columns of a matrix, else 1
  std::uint64_t array_length = 0;          // elements of a (flattened) array type, 0 if not an array
  std::uint64_t size = 0;                  // bytes, padding included; 0 for void
  std::uint64_t alignment = 1;             // bytes
  bool is_atomic = false;
  std::vector<StructMember> members;  // of a struct, in declaration order
  // Of a pointer, or an array of them: the element kind of what they lead to, and whether there are pointers, too.
  ElementType pointee = ElementType::none;
  bool is_pointer = false;
  bool leads_to_pointers = false;
};

// What the address at this offset in an argument buffer of that type leads to; none if nothing is known of it. Behind
// the type's end another object of it begins.
ElementType pointee_at(const TypeInfo& type, std::uint64_t offset);

// Whether both are known as floating-point formats, and not the same one. All else that a host does with memory is
// legal: integers of another sign, packed words, bytes.
bool differ_in_format(ElementType one, ElementType other);

// Of a host's type; none for structures and for all that Metal does not have.
template <typename T>
constexpr ElementType element_type_of() {
  using Plain = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<Plain, float>) return ElementType::float32;
#ifdef __FLT16_MAX__
  if constexpr (std::is_same_v<Plain, _Float16>) return ElementType::float16;
#endif
#ifdef __BFLT16_MAX__
  if constexpr (std::is_same_v<Plain, __bf16>) return ElementType::bfloat16;
#endif
  if constexpr (std::is_same_v<Plain, bool>) return ElementType::boolean;
  if constexpr (std::is_integral_v<Plain> && !std::is_same_v<Plain, bool>) {
    return integer_type(sizeof(Plain), std::is_signed_v<Plain>);
  }
  return ElementType::none;
}

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
  // A buffer that the specialised code leaves alone need not be bound.
  bool is_used = true;
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

// What an engine has to say of a kernel that it took, or did not take.
struct Remark {
  std::string engine;
  std::string reason;
  std::string source_file;        // empty: of the kernel as a whole
  std::uint32_t source_line = 0;  // 0: unknown
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
