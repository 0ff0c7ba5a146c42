// Traces of compiles and dispatches.
#include "metalloid/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace trace_test {

using nlohmann::json;
namespace fs = std::filesystem;

class Trace : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("metalloid-trace-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    file = folder / "trace.json";
  }
  void TearDown() override {
    stop_trace();
    fs::remove_all(folder);
  }
  static std::vector<json> events(const fs::path& path) {
    std::vector<json> result;
    for (const json& event : json::parse(std::ifstream(path))) {
      if (event.at("ph") == "X") result.push_back(event);
    }
    return result;
  }
  static Kernel fill() {
    return Device::cpu()
        .make_library("kernel void fill(device int* x, uint i [[thread_position_in_grid]]) { x[i] = 7; }")
        .kernel("fill");
  }
  static void launch(const Kernel& kernel) {
    Buffer x(20);
    run(kernel, Dispatch().buffer(0, x).threads({5}, {4}));
  }

  fs::path folder, file;
};

TEST_F(Trace, HasCompilesAndDispatches) {
  start_trace(file);
  EXPECT_EQ(trace_file(), file);
  const Kernel kernel = fill();
  launch(kernel);
  std::thread([&] { launch(kernel); }).join();
  EXPECT_EQ(events(file).size(), 4u) << "valid while it is being written";
  stop_trace();
  EXPECT_FALSE(trace_file());
  launch(kernel);
  const auto all = events(file);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].at("name"), "compile program_source");
  EXPECT_EQ(all[0].at("cat"), "compile");
  EXPECT_THAT(all[0].at("args").at("cache"), ::testing::AnyOf("hit", "miss"));
  EXPECT_EQ(all[1].at("name"), "compile kernel fill");
  EXPECT_EQ(all[2].at("name"), "fill");
  EXPECT_EQ(all[2].at("cat"), "dispatch");
  EXPECT_EQ(all[2].at("args").at("threads_per_grid"), json({5, 1, 1}));
  EXPECT_EQ(all[2].at("args").at("threads_per_threadgroup"), json({4, 1, 1}));
  EXPECT_EQ(all[2].at("args").at("device"), "cpu");
  EXPECT_EQ(all[2].at("pid"), ::getpid());
  EXPECT_NE(all[2].at("tid"), all[3].at("tid"));
  EXPECT_GE(all[3].at("ts").get<double>(), all[2].at("ts").get<double>() + all[2].at("dur").get<double>());
}

TEST_F(Trace, KnowsWhatTheCacheHad) {
  const std::string source = "kernel void tracing_" + std::to_string(::getpid()) + "() {}";
  start_trace(file);
  Device::cpu().make_library(source);
  Device::cpu().make_library(source);
  stop_trace();
  const auto all = events(file);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("args").at("cache"), "miss");
  EXPECT_EQ(all[1].at("args").at("cache"), "hit");
}

TEST_F(Trace, TellsErrorsAndNamesInAnyEncoding) {
  start_trace(file);
  CompileOptions options;
  options.source_name = "a\xff\"\n.metal";
  EXPECT_THROW(Device::cpu().make_library("kernel void wrong( { }", options), Error);
  stop_trace();
  const auto all = events(file);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("args").at("error"), "compile_error");
}

TEST_F(Trace, IsAFilePerProcessAndValidWhereAProcessDies) {
  start_trace(file);
  const Kernel kernel = fill();
  const pid_t child = ::fork();
  if (child == 0) {
    launch(kernel);
    launch(kernel);
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  launch(kernel);
  stop_trace();
  EXPECT_EQ(events(file).size(), 3u);
  EXPECT_EQ(events(folder / ("trace." + std::to_string(child) + ".json")).size(), 2u);
}

TEST_F(Trace, ThatCannotBeWrittenIsAnError) {
  try {
    start_trace(folder / "missing" / "trace.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_output);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("missing"));
  }
  launch(fill());
}

// ulimit -f raises SIGXFSZ, which ends processes.
TEST_F(Trace, EndsAtTheLimitOfFileSizes) {
  const Kernel kernel = fill();
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    start_trace(file);
    for (int i = 0; i < 100; ++i) launch(kernel);
    ::_exit(trace_file() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(events(file).size(), 2u);
}

}  // namespace trace_test
}  // namespace metalloid
