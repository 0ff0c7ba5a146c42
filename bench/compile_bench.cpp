// Compile times: cold, from the disk cache, and Clang's for the same arithmetic in C++.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"

extern char** environ;

namespace {

// A cache folder for this run alone, made before the library first looks for one.
struct TemporaryCache {
  std::string folder = std::filesystem::temp_directory_path() / "metalloid-bench-XXXXXX";
  TemporaryCache() {
    if (mkdtemp(folder.data()) != nullptr) setenv("METALLOID_CACHE_DIR", folder.c_str(), 1);
  }
  ~TemporaryCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
} temporary_cache;

std::string example_source() {
  std::ifstream stream(METALLOID_SOURCE_FOLDER "/examples/rms_norm.metal");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Another macro definition is another compilation: no cache knows it.
metalloid::CompileOptions unseen_options() {
  static int counter = 0;
  metalloid::CompileOptions options;
  options.definitions.emplace_back("METALLOID_BENCH_RUN", std::to_string(++counter));
  return options;
}

void cold_compile(benchmark::State& state) {
  const std::string source = example_source();
  const metalloid::Device device = metalloid::Device::cpu();
  for (auto _ : state) {
    metalloid::Kernel kernel = device.make_library(source, unseen_options()).kernel("rms_norm");
    if (kernel.came_from_cache()) state.SkipWithError("a cold compile came from the cache");
  }
}
BENCHMARK(cold_compile)->Unit(benchmark::kMillisecond)->MinTime(2)->UseRealTime();

void clang_compile(benchmark::State& state) {
  const std::string object = std::filesystem::temp_directory_path() / fmt::format("metalloid-bench-{}.o", getpid());
  std::vector<std::string> words = {"clang++-22", "-O2", "-c", METALLOID_SOURCE_FOLDER "/bench/rms_norm.cpp",
                                    "-o",         object};
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

// The compiled kernel is on disk and nothing of it is in memory.
void cached_load(benchmark::State& state) {
  const std::string source = example_source();
  const metalloid::Device device = metalloid::Device::cpu();
  // Compiled once for the disk; every iteration then drops the last reference, and with it what is in memory.
  device.make_library(source).kernel("rms_norm");
  for (auto _ : state) {
    metalloid::Kernel kernel = device.make_library(source).kernel("rms_norm");
    if (!kernel.came_from_cache()) state.SkipWithError("a cached load compiled");
  }
}
BENCHMARK(cached_load)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
