// Compile times: cold, from the disk cache, and Clang's for the same arithmetic in C++.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/metalloid.h"

extern char** environ;

namespace {

// A cache folder for this run alone; the processes it starts inherit it.
struct TemporaryCache {
  std::string folder = std::filesystem::temp_directory_path() / "metalloid-bench-XXXXXX";
  TemporaryCache() {
    if (mkdtemp(folder.data()) != nullptr) setenv("METALLOID_CACHE_DIR", folder.c_str(), 1);
  }
  ~TemporaryCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

std::string example_source() {
  std::ifstream stream(METALLOID_SOURCE_FOLDER "/examples/kernels/rms_norm.metal");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The example with another kernel name: no cache knows it.
std::string unseen_source(const std::string& source, const std::string& name) {
  std::string text = source;
  const std::string declaration = "kernel void rms_norm(";
  return text.replace(text.find(declaration), declaration.size(), fmt::format("kernel void {}(", name));
}

void cold_compile(benchmark::State& state) {
  const std::string source = example_source();
  const metalloid::Device device = metalloid::Device::cpu();
  static int counter = 0;
  for (auto _ : state) {
    const std::string name = fmt::format("rms_norm_{}", ++counter);
    metalloid::Kernel kernel = device.make_library(unseen_source(source, name)).kernel(name);
    if (kernel.came_from_cache()) state.SkipWithError("a cold compile came from the cache");
  }
}
BENCHMARK(cold_compile)->Unit(benchmark::kMillisecond)->MinTime(2)->UseRealTime();

void clang_compile(benchmark::State& state) {
  const std::string object = std::filesystem::temp_directory_path() / fmt::format("metalloid-bench-{}.o", getpid());
  std::vector<std::string> words = {
      "clang++-22", "-O2", "-c", std::string(METALLOID_SOURCE_FOLDER) + "/bench/rms_norm.cpp", "-o", object};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  for (auto _ : state) {
    pid_t process = 0;
    int status = -1;
    if (posix_spawnp(&process, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0 ||
        waitpid(process, &status, 0) < 0 || status != 0) {
      state.SkipWithError("clang++-22 failed");
      break;
    }
  }
  std::filesystem::remove(object);
}
BENCHMARK(clang_compile)->Unit(benchmark::kMillisecond)->MinTime(2)->UseRealTime();

// What a new process does: the compiled kernel is on disk and nothing of it is in memory. Starting the process and
// the library is not counted.
void cached_load(benchmark::State& state) {
  metalloid::Device::cpu().make_library(example_source()).kernel("rms_norm");
  const std::string command = std::filesystem::read_symlink("/proc/self/exe").string() + " --load-once";
  for (auto _ : state) {
    std::FILE* pipe = popen(command.c_str(), "r");
    std::array<char, 64> text{};
    const bool is_read = pipe != nullptr && std::fgets(text.data(), text.size(), pipe) != nullptr;
    const double seconds = std::strtod(text.data(), nullptr);
    if (pipe == nullptr || pclose(pipe) != 0 || !is_read || seconds <= 0) {
      state.SkipWithError("the kernel was not loaded from the cache");
      break;
    }
    state.SetIterationTime(seconds);
  }
}
BENCHMARK(cached_load)->Unit(benchmark::kMillisecond)->UseManualTime()->Iterations(20);

int load_once() {
  const std::string source = example_source();
  const metalloid::Device device = metalloid::Device::cpu();
  device.make_library("kernel void first() {}").kernel("first");
  const auto start = std::chrono::steady_clock::now();
  const metalloid::Kernel kernel = device.make_library(source).kernel("rms_norm");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  fmt::print("{}\n", taken.count());
  return kernel.came_from_cache() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--load-once") return load_once();
  const TemporaryCache cache;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
