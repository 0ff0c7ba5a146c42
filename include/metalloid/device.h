// Devices and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
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

class Device;
namespace engines {
class Memory;
}

// Memory that kernels read and write. Cheap to copy; the memory lives as long as one copy does.
class Buffer {
 public:
  // Own memory of the host, zeroed, aligned to 128 bytes. Devices with memory of their own work on copies.
  explicit Buffer(std::size_t size);
  // Own memory of a device, zeroed. Private memory may be the host's too, where the device has none of its own.
  enum class Storage : std::uint8_t { device_private, shared };
  Buffer(const Device& device, std::size_t size, Storage storage = Storage::device_private);
  // The caller's memory, without a copy. `owner` keeps it alive (may be empty).
  static Buffer wrap(void* memory, std::size_t size, std::shared_ptr<void> owner = {});
  // The caller's memory of a device, by its address there (CUDA: a CUdeviceptr of the GPU's primary context).
  static Buffer wrap(const Device& device, std::uint64_t address, std::size_t size, std::shared_ptr<void> owner = {});
  // A part of this memory, which lies where all of it does. `owner` in place of this one's keeps it alive. Throws
  // invalid_argument for bytes outside.
  Buffer part(std::size_t offset, std::size_t size, std::shared_ptr<void> owner) const;
  // The same with a type of elements: a dispatch refuses them for a kernel that takes another floating-point format.
  template <typename T>
  static Buffer of(std::size_t count) {
    Buffer buffer(count * sizeof(T));
    buffer.elements_ = element_type_of<T>();
    return buffer;
  }
  template <typename T>
  static Buffer wrap(std::span<T> memory, std::shared_ptr<void> owner = {}) {
    Buffer buffer = wrap(const_cast<std::remove_const_t<T>*>(memory.data()), memory.size_bytes(), std::move(owner));
    buffer.elements_ = element_type_of<T>();
    return buffer;
  }
  // For formats that the host has no type for. ElementType::none: the memory itself is meant.
  Buffer with_elements(ElementType kind) const {
    Buffer buffer = *this;
    buffer.elements_ = kind;
    return buffer;
  }

  // The same memory, of whose contents nothing is known: the checker (metalloid/check.h) reports who reads a byte of it
  // that the kernel has not written before.
  Buffer as_undefined() const {
    Buffer buffer = *this;
    buffer.is_undefined_ = true;
    return buffer;
  }

  void* contents() const;                             // null in memory that the host cannot reach
  std::uint64_t gpu_address() const;                  // as kernels see it, on the device that it belongs to
  std::size_t size() const { return size_; }          // bytes
  ElementType elements() const { return elements_; }  // none where nobody said what they are
  bool is_undefined() const { return is_undefined_; }
  engines::Memory& memory() const;
  template <typename T>
  std::span<T> as() const {
    return {static_cast<T*>(contents()), contents() ? size_ / sizeof(T) : 0};
  }

  // In any memory. Throw invalid_argument for bytes outside of the buffer.
  void read(std::size_t offset, std::span<std::byte> to) const;
  void write(std::size_t offset, std::span<const std::byte> from) const;

 private:
  Buffer() = default;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
  ElementType elements_ = ElementType::none;
  bool is_undefined_ = false;
  std::shared_ptr<void> owner_;
  engines::Memory* space_ = nullptr;  // null: the host's
};

// Hardware and the engines that run kernels on it: the first, and behind it those that take what it does not. Cheap to
// copy.
class Device {
 public:
  static Device cpu();  // this machine's processor, with its fastest engine first
  // What $METALLOID_DEVICE names, else cpu(). Throws invalid_argument as named() does.
  static Device configured();
  // Whose memory an array is in that says so by DLPack's kind and number of its device. Throws invalid_argument if it
  // is the host's or of none that is there.
  static Device of_arrays(int kind, int number);
  // Also by an engine's name, for that engine alone. Throws invalid_argument naming those that exist.
  static Device named(std::string_view name);
  // One per way to run kernels, each first engine once: what a test that must hold everywhere goes through.
  static std::vector<Device> all();
  // All that `named` knows, each name once: what a user can choose from.
  static std::vector<Device> choices();

  const std::string& name() const;         // "cpu", "reference", ...
  const std::string& description() const;  // for people: engine and hardware
  const std::string& engine() const;       // the name of its first engine; Kernel::engine() tells a kernel's
  Limits limits() const;

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
