// Choosing, running and reading back.
#include "launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "argument.h"
#include "constants.h"
#include "metalloid/library_outline.h"
#include "numbers.h"
#include "output.h"
#include "runtime/dispatch/timed.h"

namespace metalloid::tool {
namespace {

std::optional<std::uint32_t> as_index(std::string_view text) { return parse_number<std::uint32_t>(text); }

Size as_size(const std::vector<std::uint64_t>& extents) {
  return {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
          static_cast<std::uint32_t>(extents[2])};
}

std::string describe(Size size) {
  if (size.z != 1) return fmt::format("{} x {} x {}", size.x, size.y, size.z);
  if (size.y != 1) return fmt::format("{} x {}", size.x, size.y);
  return fmt::format("{}", size.x);
}

// Why there is nothing to choose from.
std::string describe_missing_kernels(const Library& library) {
  std::string text = "the file has no kernels: no function that is declared 'kernel' or [[kernel]]";
  for (const UnsupportedFunction& function : unsupported_functions_of(library)) {
    text += fmt::format("; '{}' is not supported: {}", function.name, function.reason);
  }
  return text + ", and a template needs an instantiation";
}

std::string chosen_kernel(const Library& library, const LaunchOptions& options) {
  const std::vector<std::string> names = library.kernel_names();
  if (!options.kernel.empty()) return options.kernel;
  if (names.empty()) throw UsageError(describe_missing_kernels(library));
  if (names.size() == 1) return names[0];
  throw UsageError(fmt::format("--kernel is missing; the file has {}", fmt::join(names, ", ")));
}

}  // namespace

void add_launch_options(CLI::App& command, LaunchOptions& options) {
  command.add_option("--kernel", options.kernel,
                     "The kernel's name (host_name where it has one), if there are several");
  CLI::Option* threads = command.add_option("--threads", options.threads,
                                            "Grid in threads X[,Y[,Z]]; the last threadgroups are cut to fit");
  command
      .add_option("--threadgroups", options.threadgroups, "Grid in whole threadgroups X[,Y[,Z]], in place of --threads")
      ->excludes(threads);
  command.add_option("--group", options.group, "Threads per threadgroup X[,Y[,Z]], at most 1024 in all");
  command.add_option("--arg", options.arguments, "Bind an argument; see below for SPEC")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command
      .add_option("--threadgroup-memory", options.threadgroup_memory,
                  "Length of a [[threadgroup(n)]] argument, in all or for each thread of a threadgroup")
      ->type_name("INDEX=BYTES[/thread]")
      ->allow_extra_args(false);
  command.add_option("--constant", options.constants, "Value of a function constant")
      ->type_name("NAME_OR_INDEX=VALUE")
      ->allow_extra_args(false);
  add_whole_number(command, "--seed", "Seed of uniform and normal (default 0)", 0,
                   std::numeric_limits<std::uint64_t>::max(), [&options](std::uint64_t seed) { options.seed = seed; });
  add_real_number(command, "--timeout", "Stop the kernel after this many seconds; 0 means never", 1e9,
                  [&options](double seconds) { options.timeout = seconds; });
}

std::string spec_help() {
  return fmt::format(
      "SPEC is one of\n"
      "  1024   1e-5   true        a value of the argument's type\n"
      "  {{8,0.5}}   {{n=8,a=0.5}}     the same for vectors, arrays and structs; what is not given is zero\n"
      "  FILE.npy                  a NumPy file, its shape and element type\n"
      "  bf16:FILE.npy             bfloat16 elements stored as uint16\n"
      "  u32:1024   f32:1e-5       a value that says its type\n"
      "  f32[8,1024]=FILL          an array; FILL is zeros, ones, arange, uniform (0..1, integers 0..99), normal,\n"
      "                            a value, or one value per element: i32[4]=1,2,3,4\n"
      "  f32[64]=undefined         memory that nobody has written yet\n"
      "  @x   @x+16                the memory of argument x (or of an index), from a byte of it on\n"
      "and binds buffers 0, 1, 2, ... in order; NAME=SPEC or INDEX=SPEC binds one of them. Some shells (zsh) want\n"
      "brackets in quotes: --arg 'x=f32[8]=ones'.\n"
      "Element types: {}.\n"
      "Vectors and atomics take arrays of their element type; a struct a u8 array of its bytes; pointers to char,\n"
      "uchar and void any array.\n",
      kind_names());
}

CommandLineLaunch::CommandLineLaunch(const Library& library, const LaunchOptions& options)
    : kernel_(library.kernel(chosen_kernel(library, options), parse_constants(library, options.constants))),
      repeat_(options.repeat) {
  set_grid(options);
  bind(options);
  set_threadgroup_memory(options);
  if (options.timeout) {
    auto limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*options.timeout));
    dispatch_.timeout(limit);
  }
}

void CommandLineLaunch::set_threadgroup_memory(const LaunchOptions& options) {
  constexpr std::string_view per_thread = "/thread";
  for (const std::string& assignment : options.threadgroup_memory) {
    const auto equals = assignment.find('=');
    const auto index = as_index(std::string_view(assignment).substr(0, equals));
    std::string_view length = equals == std::string::npos ? "" : std::string_view(assignment).substr(equals + 1);
    const bool is_per_thread = length.ends_with(per_thread);
    if (is_per_thread) length.remove_suffix(per_thread.size());
    const auto bytes = as_index(length);
    if (!index || !bytes) {
      throw UsageError(
          fmt::format("--threadgroup-memory {}: give INDEX=BYTES or INDEX=BYTES/thread", shortened(assignment)));
    }
    if (is_per_thread) {
      threadgroup_memory_per_thread_[*index] = *bytes;
      dispatch_.threadgroup_memory(*index, *bytes * dispatch_.group().volume());
    } else {
      dispatch_.threadgroup_memory(*index, *bytes);
    }
  }
}

void CommandLineLaunch::set_group(Size group) {
  if (dispatch_.grid_counts_threads()) {
    dispatch_.threads(dispatch_.grid(), group);
  } else {
    dispatch_.threadgroups(dispatch_.grid(), group);
  }
  for (const auto& [index, bytes] : threadgroup_memory_per_thread_) {
    dispatch_.threadgroup_memory(index, bytes * group.volume());
  }
}

void CommandLineLaunch::set_default_group() {
  const auto& required = kernel_.info().required_threads_per_threadgroup;
  if (required[0] != 0) return set_group({required[0], required[1], required[2]});
  if (!dispatch_.grid_counts_threads()) {
    throw UsageError("--group is missing: the number of threads of each of the --threadgroups");
  }
  set_group(kernel_.default_threadgroup(dispatch_.grid()));
}

void CommandLineLaunch::set_grid(const LaunchOptions& options) {
  if (options.threads.empty() && options.threadgroups.empty()) {
    throw UsageError("--threads is missing: the size of the grid (or --threadgroups, its number of threadgroups)");
  }
  const bool has_group = !options.group.empty() && options.group != "auto";
  const Size group = has_group ? as_size(parse_extents(options.group, "--group")) : Size{0, 0, 0};
  if (options.threads.empty()) {
    dispatch_.threadgroups(as_size(parse_extents(options.threadgroups, "--threadgroups")), group);
  } else {
    dispatch_.threads(as_size(parse_extents(options.threads, "--threads")), group);
  }
}

void CommandLineLaunch::fill_buffers() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (buffers_[i]) fill_buffer(i);
  }
}

void CommandLineLaunch::fill_buffer(std::size_t i) { buffers_[i]->write(0, arguments_[i].array.bytes); }

void CommandLineLaunch::read_back() {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!copies_[i].empty()) buffers_[i]->read(0, copies_[i]);
  }
}

TuneOptions CommandLineLaunch::described(TuneOptions options) const {
  options.threadgroup_memory_per_thread = threadgroup_memory_per_thread_;
  for (const BoundArgument& argument : arguments_) {
    options.contents[argument.info.index] = {argument.array.kind,
                                             {argument.array.shape.begin(), argument.array.shape.end()}};
  }
  return options;
}

TuneResult CommandLineLaunch::tune(TuneOptions options) {
  fill_buffers();
  return metalloid::tune(kernel_, dispatch_, described(std::move(options)));
}

TuneResult CommandLineLaunch::tune_once() {
  if (auto known = last_tuning(kernel_, dispatch_, described())) return *known;
  return tune({});
}

std::vector<std::chrono::duration<double>> CommandLineLaunch::execute() {
  std::vector<std::chrono::duration<double>> times;
  for (std::uint32_t repetition = 0; repetition < repeat_; ++repetition) {
    fill_buffers();
    const auto start = std::chrono::steady_clock::now();
    run(kernel_, dispatch_);
    times.emplace_back(std::chrono::steady_clock::now() - start);
  }
  read_back();
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    std::vector<std::byte>& bytes = arguments_[i].array.bytes;
    if (!memory_[i].empty()) std::copy_n(memory_[i].data(), bytes.size(), bytes.begin());
  }
  return times;
}

std::chrono::duration<double> CommandLineLaunch::time_calls(std::uint32_t calls) {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!buffers_[i] || (was_filled_ && !is_writable_[i])) continue;
    fill_buffer(i);
  }
  was_filled_ = true;
  if (const auto one = runtime::timed_by_hardware(kernel_, dispatch_, calls)) {
    return *one;
  }
  const auto start = std::chrono::steady_clock::now();
  for (std::uint32_t call = 0; call < calls; ++call) run(kernel_, dispatch_);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken / calls;
}

std::uint64_t CommandLineLaunch::thread_count() const {
  const std::uint64_t grid = dispatch_.grid().volume();
  return dispatch_.grid_counts_threads() ? grid : grid * dispatch_.group().volume();
}

const BoundArgument& CommandLineLaunch::find(const std::string& name_or_index) const {
  const auto index = as_index(name_or_index);
  std::string names;
  for (const BoundArgument& argument : arguments_) {
    if (index ? argument.info.index == *index : argument.info.name == name_or_index) return argument;
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", argument.info.index, argument.info.name);
  }
  throw UsageError(fmt::format("no argument '{}' is bound (bound: {})", shortened(name_or_index), names));
}

std::string CommandLineLaunch::grid_text() const {
  const bool threads = dispatch_.grid_counts_threads();
  const bool is_one = dispatch_.grid().volume() == 1;
  const char* one = threads ? "thread in threadgroups" : "threadgroup";
  const char* many = threads ? "threads in threadgroups" : "threadgroups";
  return fmt::format("{} {} of {}", describe(dispatch_.grid()), is_one ? one : many, describe(dispatch_.group()));
}

}  // namespace metalloid::tool
