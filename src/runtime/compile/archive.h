// Reflection to bytes and back, for the disk cache and for the compiler's process. One description of each type serves
// both directions.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "metalloid/reflection.h"
#include "support/hash.h"

namespace metalloid::runtime {

class Writer {
 public:
  static constexpr bool reading = false;
  void raw(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Throws std::out_of_range when the bytes end too early or say what no writer says.
class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  void raw(void* data, std::size_t size) {
    if (size > bytes_.size()) throw std::out_of_range("cache entry ends too early");
    std::memcpy(data, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  std::size_t left() const { return bytes_.size(); }
  // Structs within structs: bytes could nest them deeper than the stack is.
  void enter() {
    if (++depth_ > 64) throw std::out_of_range("cache entry nests types too deeply");
  }
  void leave() { --depth_; }

 private:
  std::string_view bytes_;
  unsigned depth_ = 0;
};

// The last of each enumeration of the reflection: others are no values of it, and index tables.
constexpr ElementType last_value(ElementType) { return last_element_type; }
constexpr AddressSpace last_value(AddressSpace) { return AddressSpace::threadgroup; }
constexpr ArgumentKind last_value(ArgumentKind) { return ArgumentKind::tensor; }
constexpr Access last_value(Access) { return Access::read_write; }
constexpr Builtin last_value(Builtin) { return Builtin::thread_index_in_grid; }

template <typename Archive, typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
void archive(Archive& bytes, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t bit = value ? 1 : 0;
    bytes.raw(&bit, 1);
    if (bit > 1) throw std::out_of_range("cache entry has a truth value that is neither");
    value = bit != 0;
  } else {
    bytes.raw(&value, sizeof(value));
    if constexpr (requires { last_value(value); }) {
      if (value > last_value(T())) throw std::out_of_range("cache entry has an unknown kind");
    }
  }
}

template <typename Archive>
void archive(Archive& bytes, std::string& text) {
  std::uint64_t size = text.size();
  archive(bytes, size);
  if constexpr (Archive::reading) {
    if (size > bytes.left()) throw std::out_of_range("cache entry ends too early");
    text.resize(size);
  }
  bytes.raw(text.data(), size);
}

template <typename Archive>
void archive(Archive& bytes, support::Hash& hash) {
  archive(bytes, hash.low);
  archive(bytes, hash.high);
}

template <typename Archive>
void archive(Archive& bytes, TypeInfo& type);
template <typename Archive>
void archive(Archive& bytes, StructMember& member);
template <typename Archive>
void archive(Archive& bytes, ArgumentInfo& argument);
template <typename Archive>
void archive(Archive& bytes, FunctionConstantInfo& constant);
template <typename Archive>
void archive(Archive& bytes, KernelInfo& kernel);
template <typename Archive>
void archive(Archive& bytes, Remark& remark);
template <typename Archive>
void archive(Archive& bytes, UnsupportedFunction& function);

template <typename Archive, typename T>
void archive(Archive& bytes, std::vector<T>& list) {
  std::uint64_t size = list.size();
  archive(bytes, size);
  if constexpr (Archive::reading) {
    if (size > bytes.left()) throw std::out_of_range("cache entry ends too early");
    list.clear();  // and no memory for elements before they are there
    for (std::uint64_t i = 0; i < size; ++i) archive(bytes, list.emplace_back());
  } else {
    for (T& element : list) archive(bytes, element);
  }
}

template <typename Archive, typename... Fields>
void archive_all(Archive& bytes, Fields&... fields) {
  (archive(bytes, fields), ...);
}

template <typename Archive>
void archive(Archive& bytes, StructMember& member) {
  archive_all(bytes, member.name, member.offset, member.type);
}

template <typename Archive>
void archive(Archive& bytes, TypeInfo& type) {
  if constexpr (Archive::reading) bytes.enter();
  archive_all(bytes, type.name, type.scalar, type.rows, type.columns, type.array_length, type.size, type.alignment,
              type.is_atomic, type.members, type.pointee, type.is_pointer, type.leads_to_pointers);
  if constexpr (Archive::reading) bytes.leave();
}

template <typename Archive>
void archive(Archive& bytes, ArgumentInfo& argument) {
  archive_all(bytes, argument.name, argument.kind, argument.index, argument.address_space, argument.access,
              argument.type, argument.extents, argument.is_reference, argument.builtin, argument.gate,
              argument.is_active, argument.is_used);
}

template <typename Archive>
void archive(Archive& bytes, FunctionConstantInfo& constant) {
  archive_all(bytes, constant.name, constant.index, constant.type, constant.symbol);
}

template <typename Archive>
void archive(Archive& bytes, KernelInfo& kernel) {
  archive_all(bytes, kernel.name, kernel.symbol, kernel.arguments, kernel.max_total_threads_per_threadgroup);
  for (std::uint32_t& size : kernel.required_threads_per_threadgroup) archive(bytes, size);
  archive_all(bytes, kernel.static_threadgroup_memory, kernel.function_constants, kernel.source_file,
              kernel.source_line);
}

template <typename Archive>
void archive(Archive& bytes, Remark& remark) {
  archive_all(bytes, remark.engine, remark.reason, remark.source_file, remark.source_line);
}

template <typename Archive>
void archive(Archive& bytes, UnsupportedFunction& function) {
  archive_all(bytes, function.name, function.reason);
}

template <typename Archive>
void archive(Archive& bytes, LibraryInfo& library) {
  archive_all(bytes, library.kernels, library.function_constants, library.unsupported);
}

}  // namespace metalloid::runtime
