// One launch of a kernel as the command line describes it: options, binding of SPECs to arguments, repetition.
// `metalloid run`, `metalloid tune` and the data-driven kernel tests share it.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "argument.h"
#include "array.h"
#include "metalloid/check.h"
#include "metalloid/device.h"
#include "metalloid/dispatch.h"
#include "metalloid/tune.h"
#include "options.h"

namespace metalloid::tool {

struct LaunchOptions {
  std::string kernel;        // may be empty if the library has only one
  std::string threads;       // dispatchThreads; exactly one of these two is given
  std::string threadgroups;  // dispatchThreadgroups
  std::string group;         // "auto" and nothing leave the size to tune() or set_group()
  std::vector<std::string> arguments;
  std::vector<std::string> threadgroup_memory;
  std::vector<std::string> constants;
  std::uint64_t seed = 0;
  std::uint32_t repeat = 1;
  std::optional<double> timeout;  // seconds
  // Arguments lie where the device reaches them fastest, rather than in the host's memory.
  bool on_device = false;
  // Elements of another type than the argument's are bound as they are, and findings() speaks of them.
  bool takes_other_types = false;
};

// All but --repeat, which not every subcommand has.
void add_launch_options(CLI::App& command, LaunchOptions& options);
// What --arg takes, for a subcommand's help.
std::string spec_help();

// A kernel argument and the array bound to it.
struct BoundArgument {
  ArgumentInfo info;
  Array array;  // before the launch: the input; after execute(): what the kernel left
};

class CommandLineLaunch {
 public:
  // Throws UsageError for options that make no sense, Error for what the kernel does not take.
  CommandLineLaunch(const Library& library, const LaunchOptions& options);

  // Measures threadgroup sizes on these arguments; the launch itself stays as it is.
  TuneResult tune(TuneOptions options);
  // The same with standard options, unless there was a tuning with whatever options.
  TuneResult tune_once();
  void set_group(Size group);
  // What the kernel requires, else with --threads the longest row of threads, as metalloid.compile_shader does. Throws
  // UsageError with --threadgroups.
  void set_default_group();

  // Runs `repeat` times, from the same input each time, and reads the buffers back. Returns the run times. Throws
  // Error.
  std::vector<std::chrono::duration<double>> execute();

  // Puts the input back into what the kernel may have written, runs it `calls` times, each on what the one before left,
  // and returns the time of one of them. Throws as execute().
  std::chrono::duration<double> time_calls(std::uint32_t calls);

  const Kernel& kernel() const { return kernel_; }
  const std::vector<Finding>& findings() const { return findings_; }
  std::uint64_t thread_count() const;
  Size group() const { return dispatch_.group(); }
  const std::vector<BoundArgument>& arguments() const { return arguments_; }
  // Reads memory of the device that the host cannot reach into memory().
  void read_back();
  // Beside arguments(): the memory that the kernel works on, or the host's copy of it, empty where bytes are bound by
  // value. Of an argument that is bound to another one's memory, its part of that.
  std::span<const std::byte> memory(std::size_t argument) const;
  // By name or index. Throws UsageError that lists what is bound.
  const BoundArgument& find(const std::string& name_or_index) const;
  std::string grid_text() const;

 private:
  void bind(const LaunchOptions& options);
  std::vector<const ArgumentInfo*> targets_of(const std::vector<ArgumentSpec>& specs) const;
  void bind_own(std::size_t i, const ArgumentSpec& spec, const LaunchOptions& options);
  void bind_alias(std::size_t i, const ArgumentSpec& spec);
  void bind_memory(const ArgumentInfo& info, const Buffer& buffer, const std::vector<std::size_t>& shape);
  void set_grid(const LaunchOptions& options);
  void set_threadgroup_memory(const LaunchOptions& options);
  void fill_buffers();
  void fill_buffer(std::size_t i);
  // With what is known of the arguments.
  TuneOptions described(TuneOptions options = {}) const;

  Kernel kernel_;
  Dispatch dispatch_;
  std::map<std::uint32_t, std::size_t> threadgroup_memory_per_thread_;  // bytes, by index
  std::vector<BoundArgument> arguments_;
  // Beside arguments_; nothing where bytes are bound by value, or the memory of another argument is.
  std::vector<std::optional<Buffer>> buffers_;
  std::vector<std::span<std::byte>> memory_;
  std::vector<std::vector<std::byte>> copies_;  // which memory_ is of where the host does not reach the buffer
  std::vector<bool> is_writable_;               // through whichever argument; beside buffers_
  std::vector<Finding> findings_;
  std::uint32_t repeat_;
  bool was_filled_ = false;  // by time_calls()
};

}  // namespace metalloid::tool
