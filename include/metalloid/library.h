// Libraries (compiled MSL source), function constants and kernels (pipeline states).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "metalloid/error.h"
#include "metalloid/reflection.h"

namespace metalloid {

class Device;
struct Size;

// As MTLMathMode. Metalloid never assumes that NaN and infinity are absent, so `fast` differs from
// `relaxed` only in name.
enum class MathMode : std::uint8_t { safe, relaxed, fast };

// `-std=metal3.1` is {3, 1}.
struct LanguageVersion {
  std::uint8_t major_version = 3;
  std::uint8_t minor_version = 2;
  auto operator<=>(const LanguageVersion&) const = default;
};

inline constexpr LanguageVersion default_language_version{3, 2};
inline constexpr LanguageVersion newest_language_version{4, 0};

// What an access outside of a thread's own variable does: the dispatch fails, or, as on Apple's GPUs, goes on. Then
// what lies outside reads as zero and is not written. Other memory's accesses are no matter of this.
enum class ThreadOverruns : std::uint8_t { fail, ignore };

struct CompileOptions {
  LanguageVersion language = default_language_version;
  MathMode math_mode = MathMode::fast;
  std::vector<std::pair<std::string, std::string>> definitions;  // -D name=value
  std::vector<std::filesystem::path> include_directories;        // -I
  // Headers that exist only in memory: path as written in #include, contents.
  std::map<std::string, std::string> headers;
  std::string source_name = "program_source";  // the file name that diagnostics show
  // The file that the source was read from, if any: its folder is searched first, and the files of its project (the
  // nearest folder above it under version control) can be included by paths like "../x.h". A source without one
  // includes from the folders and headers above and from the standard library, and from nowhere else.
  std::filesystem::path source_file;
  bool warnings_as_errors = false;
  ThreadOverruns thread_overruns = ThreadOverruns::fail;
  // Where there are any, all files that there are for the source, by absolute path: none is read from disk. A packed
  // library (packed_library.h) brings its own.
  std::map<std::string, std::string> files;
};

// Values for function constants, by index or by name. Later values replace earlier ones.
class FunctionConstants {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::vector<std::int64_t>, std::vector<double>, std::uint64_t,
                             std::vector<std::uint64_t>>;

  FunctionConstants& set(std::uint32_t index, Value value) {
    by_index_[index] = std::move(value);
    return *this;
  }
  FunctionConstants& set(std::string name, Value value) {
    by_name_[std::move(name)] = std::move(value);
    return *this;
  }
  // Numbers of 2^63 and more too, for ulong.
  template <std::unsigned_integral Number, typename Key>
    requires(!std::same_as<Number, bool>)
  FunctionConstants& set(Key&& key, Number value) {
    return set(std::forward<Key>(key), Value(std::in_place_type<std::uint64_t>, value));
  }

  // Off at first. On, as in Metal's host API: values of constants that the library does not have are passed over, and
  // a constant without a value that the kernel reads is zero, where otherwise both are errors.
  FunctionConstants& set_lenient(bool lenient) {
    lenient_ = lenient;
    return *this;
  }
  bool is_lenient() const { return lenient_; }

  const std::map<std::uint32_t, Value>& by_index() const { return by_index_; }
  const std::map<std::string, Value>& by_name() const { return by_name_; }
  bool empty() const { return by_index_.empty() && by_name_.empty(); }

 private:
  std::map<std::uint32_t, Value> by_index_;
  std::map<std::string, Value> by_name_;
  bool lenient_ = false;
};

// A kernel, specialised and taken to machine code (Metal: a compute pipeline state). Cheap to copy.
class Kernel {
 public:
  // Arguments here know whether their gate left them active.
  const KernelInfo& info() const;
  const std::string& name() const { return info().name; }
  std::uint32_t max_total_threads_per_threadgroup() const;
  // For a grid of threads that nobody named a threadgroup for, by PyTorch's rule: in one dimension as many threads as
  // the grid has and fit, in several as many as fit along the first.
  Size default_threadgroup(Size grid, unsigned dimensions = 1) const;
  // As many as the grid has and fit, one dimension after the other.
  Size filled_threadgroup(Size grid) const;
  std::uint32_t thread_execution_width() const { return simdgroup_width; }
  std::uint64_t static_threadgroup_memory_length() const;  // bytes
  Device device() const;
  // The name of the engine that runs it: the device's first, or the first one behind it that took the kernel.
  const std::string& engine() const;
  // What the device's engines said of it, in their order: why one did not take it, or what costs speed at which line;
  // then for which threadgroups a dispatch has to do with slower code, and why.
  std::vector<Remark> remarks() const;
  bool came_from_cache() const;  // true if no code was generated: memory or disk had it

  struct State;
  explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }
  const std::shared_ptr<const State>& shared_state() const { return state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Compiled MSL source. Cheap to copy; safe to use from several threads.
class Library {
 public:
  const LibraryInfo& info() const;
  std::vector<std::string> kernel_names() const;  // in source order
  const std::string& warnings() const;            // the compiler's log of a successful compile
  bool came_from_cache() const;

  // Throws unknown_function (naming the nearest kernels), unsupported, invalid_argument (a constant that
  // the library does not have, or of the wrong type).
  Kernel kernel(std::string_view name, const FunctionConstants& constants = {}) const;

  struct State;
  explicit Library(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace metalloid
