// `make demo`: compiles and runs every example kernel, compares each with a double-precision reference and
// prints a table. Exits with 1 if any error is over its tolerance.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "example.h"

namespace demo {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;
using metalloid::ElementType;
using metalloid::Size;

struct Settings {
  std::filesystem::path folder = METALLOID_EXAMPLES_FOLDER;
  std::string device = "cpu";
  bool only_time_compiling = false;
};

template <typename Work>
Milliseconds time(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start;
}

std::vector<Example> all_examples() {
  std::vector<Example> examples;
  for (auto part : {elementwise_examples, reduction_examples, matrix_examples, attention_examples,
                    threadgroup_memory_examples, radix_sort_examples}) {
    for (Example& example : part()) examples.push_back(std::move(example));
  }
  return examples;
}

double element(const metalloid::Buffer& buffer, ElementType kind, std::size_t i) {
  switch (kind) {
    case ElementType::float16: return static_cast<double>(buffer.as<_Float16>()[i]);
    case ElementType::bfloat16: return static_cast<double>(buffer.as<BFloat16>()[i]);
    case ElementType::uint32: return buffer.as<std::uint32_t>()[i];
    default: return buffer.as<float>()[i];
  }
}

double largest_error(const Example& example) {
  double largest = 0;
  for (std::size_t i = 0; i < example.expected.size(); ++i) {
    const double want = example.expected[i];
    const double error =
        std::abs(element(example.output, example.output_kind, i) - want) / std::max(1.0, std::abs(want));
    if (!(error <= largest)) largest = error;  // NaN counts as the largest error
    if (std::isnan(largest)) return INFINITY;
  }
  return largest;
}

std::string describe(Size size) {
  return size.y == 1 && size.z == 1 ? fmt::format("{}", size.x) : fmt::format("{}x{}", size.x, size.y);
}

// The name in the table; a kernel that is specialised in several ways appears once for each.
std::string label(const Example& example) {
  std::string text = example.kernel;
  for (const auto& [name, value] : example.constants.by_name()) {
    if (const bool* flag = std::get_if<bool>(&value)) text += fmt::format("{}{}", *flag ? " +" : " -", name);
  }
  return text;
}

// The same between the two processes, and different for kernels of the same name.
std::string key(const Example& example) { return example.file + " " + label(example); }

std::string describe(Milliseconds time) { return fmt::format("{:.2f} ms", time.count()); }

// Times of a second process, which finds the compiled kernels on disk and nothing in memory.
std::map<std::string, double> time_cached(const Settings& settings) {
  std::map<std::string, double> times;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      fmt::format("'{}' --only-time-compiling --device '{}' '{}'", self, settings.device, settings.folder.string());
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return times;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    const std::string_view text = line;
    const auto tab = text.find('\t');
    if (tab != std::string_view::npos) times[std::string(text.substr(0, tab))] = std::strtod(line + tab + 1, nullptr);
  }
  pclose(pipe);
  return times;
}

// One line that the next overwrites, where somebody watches.
void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r{:<40}\r{}", "", text);
}

int run(const Settings& settings) {
  const metalloid::Device device = metalloid::Device::named(settings.device);
  const std::vector<Example> examples = all_examples();
  auto compile = [&](const Example& example) {
    return device.load_library(settings.folder / example.file).kernel(example.kernel, example.constants);
  };
  if (settings.only_time_compiling) {
    for (const Example& example : examples) {
      bool from_cache = false;
      const Milliseconds taken = time([&] { from_cache = compile(example).came_from_cache(); });
      if (from_cache) fmt::print("{}\t{}\n", key(example), taken.count());
    }
    return 0;
  }

  fmt::print("Device {}: {}\n", device.name(), device.description());
  const Milliseconds prelude = time([&] { device.make_library("kernel void first() {}").kernel("first"); });
  fmt::print("The first compile on a machine, which also precompiles the standard library: {}\n\n", describe(prelude));
  const char* row = "{:<33} {:>9} {:>9} {:>10} {:>10}  {:>12} {:>12} {:>12}\n";
  fmt::print(fmt::runtime(row), "kernel", "grid", "threads/", "largest", "tolerance", "compile", "compile", "run");
  fmt::print(fmt::runtime(row), "", "", "group", "error", "", "cold", "cached", "");
  struct Row {
    Milliseconds cold, run;
    double error;
  };
  std::vector<Row> rows;
  for (const Example& example : examples) {
    show_progress(fmt::format("running {} ...", label(example)));
    Row& result = rows.emplace_back();
    std::optional<metalloid::Kernel> kernel;
    result.cold = time([&] { kernel = compile(example); });
    result.run = time([&] { metalloid::run(*kernel, example.dispatch); });
    result.error = largest_error(example);
  }
  show_progress("");
  const std::map<std::string, double> cached = time_cached(settings);

  int failures = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const Example& example = examples[i];
    const bool over = rows[i].error > example.tolerance;
    failures += over;
    const auto warm = cached.find(key(example));
    const std::string grid = describe(example.dispatch.grid()) + (example.dispatch.grid_counts_threads() ? "" : " tg");
    fmt::print(fmt::runtime(row), label(example), grid, describe(example.dispatch.group()),
               fmt::format("{:.1e}", rows[i].error), fmt::format("{:.1e}", example.tolerance), describe(rows[i].cold),
               warm == cached.end() ? "-" : describe(Milliseconds(warm->second)), describe(rows[i].run));
    if (over) fmt::print("  ^ over its tolerance\n");
  }
  fmt::print(
      "\nGrid in threads, or in threadgroups (tg). Error: largest |got - reference| / max(1, |reference|).\n"
      "Cached: compiled code found on disk by a second process.\n{} of {} kernels within tolerance.\n",
      examples.size() - failures, examples.size());
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace demo

int main(int argc, char** argv) {
  demo::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--only-time-compiling") {
      settings.only_time_compiling = true;
    } else if (argument == "--device" && i + 1 < argc) {
      settings.device = argv[++i];
    } else if (!argument.starts_with("-")) {
      settings.folder = argument;
    } else {
      fmt::print(stderr, "usage: metalloid_demo [--device NAME] [EXAMPLES_FOLDER]\n");
      return 2;
    }
  }
  // A cache of its own, empty at the start, so that "cold" is cold; the second process inherits it.
  std::string cache = std::filesystem::temp_directory_path() / "metalloid-demo-XXXXXX";
  const bool owns_cache = !settings.only_time_compiling;
  if (owns_cache) {
    if (mkdtemp(cache.data()) == nullptr) {
      fmt::print(stderr, "metalloid_demo: no temporary folder can be made in {}\n",
                 std::filesystem::temp_directory_path().string());
      return 1;
    }
    setenv("METALLOID_CACHE_DIR", cache.c_str(), 1);
  }
  int exit_code = 1;
  try {
    exit_code = demo::run(settings);
  } catch (const std::exception& error) {
    fmt::print(stderr, "\nmetalloid_demo: {}\n", error.what());
  }
  std::error_code ignored;
  if (owns_cache) std::filesystem::remove_all(cache, ignored);
  return exit_code;
}
