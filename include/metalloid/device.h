// Devices and buffers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "metalloid/library.h"

namespace metalloid {

// Memory that kernels read and write. Cheap to copy; the memory lives as long as one copy does.
class Buffer {
 public:
  // Own memory, zeroed, aligned to 128 bytes.
  explicit Buffer(std::size_t size);
  // The caller's memory, without a copy. `owner` keeps it alive (may be empty).
  static Buffer wrap(void* memory, std::size_t size, std::shared_ptr<void> owner = {});
  // The same with a type of elements: a dispatch refuses them for a kernel that takes another floating-point format.
  template <typename T>
  static Buffer of(std::size_t count) {
    Buffer buffer(count * sizeof(T));
    buffer.elements_ = scalar_kind_of<T>();
    return buffer;
  }
  template <typename T>
  static Buffer wrap(std::span<T> memory, std::shared_ptr<void> owner = {}) {
    Buffer buffer = wrap(const_cast<std::remove_const_t<T>*>(memory.data()), memory.size_bytes(), std::move(owner));
    buffer.elements_ = scalar_kind_of<T>();
    return buffer;
  }
  // For formats that the host has no type for. ScalarKind::none: the memory itself is meant.
  Buffer with_elements(ScalarKind kind) const {
    Buffer buffer = *this;
    buffer.elements_ = kind;
    return buffer;
  }

  void* contents() const { return memory_; }
  std::size_t size() const { return size_; }         // bytes
  ScalarKind elements() const { return elements_; }  // none where nobody said what they are
  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(memory_), size_ / sizeof(T)};
  }

 private:
  Buffer() = default;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  ScalarKind elements_ = ScalarKind::none;
  std::shared_ptr<void> owner_;
};

// An engine on a piece of hardware. Cheap to copy.
class Device {
 public:
  static Device cpu();                         // the fastest engine for this machine's CPU
  static Device named(std::string_view name);  // throws invalid_argument naming those that exist
  static std::vector<Device> all();

  const std::string& name() const;         // "cpu", "reference", ...
  const std::string& description() const;  // for people: engine and hardware
  std::string engine() const;              // the name of the engine that runs its kernels

  // Throws compile_error whose message is the compiler's log, unsupported, input_output.
  Library make_library(std::string_view source, const CompileOptions& options = {}) const;
  // The same for a file: sets source_name and source_file.
  Library load_library(const std::filesystem::path& file, CompileOptions options = {}) const;

  struct State;
  explicit Device(const State* state) : state_(state) {}
  const State& state() const { return *state_; }
  bool operator==(const Device&) const = default;

 private:
  const State* state_;  // devices live as long as the process
};

}  // namespace metalloid
