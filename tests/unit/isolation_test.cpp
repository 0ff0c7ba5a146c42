// Compiles that crash, never end or need all memory end alone: limits, interrupts, processes that go away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engines/registry.h"
#include "ir/assemble.h"
#include "isolation/compile_limits.h"
#include "isolation/job.h"
#include "metalloid/metalloid.h"
#include "runtime/compile/compile_jobs.h"
#include "support/sanitizer.h"

namespace metalloid {
namespace isolation_test {

using testing::HasSubstr;

// Each line takes a moment and Clang bounds only each for itself.
std::string endless_source() {
  std::string source =
      "constexpr int count(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i & 1; return sum; }\n";
  for (int i = 0; i < 100000; ++i) source += "static_assert(count(" + std::to_string(80000 + i) + ") > 0, \"\");\n";
  return source + "kernel void f() {}\n";
}

// More than are compiled as one.
const char* const many_instantiations =
    "template <int n> kernel void g(device int* x) { *x = n; }\n"
    "#define ONE(n) template [[host_name(\"g\" #n)]] kernel void g<n>(device int*);\n"
    "#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) "
    "ONE(n##9)\n"
    "TEN(1) TEN(2) TEN(3) TEN(4) TEN(5)\n";

class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

Error error_of(const std::string& source, const CompileOptions& options = {}) {
  try {
    Device::cpu().make_library(source, options);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "(compiled)"};
}

std::string fresh(const std::string& source) {
  static std::atomic<int> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return source + "// " + std::to_string(now) + " " + std::to_string(count++) + "\n";
}

long resident_pages() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

TEST(Isolation, ACompileThatTakesTooLongIsStopped) {
  const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.5");
  CompileOptions options;
  options.source_name = "long.metal";
  const Error error = error_of(fresh(endless_source()), options);
  EXPECT_EQ(error.code(), ErrorCode::compile_error);
  EXPECT_THAT(error.what(), HasSubstr("long.metal: error: compiling takes longer than $METALLOID_COMPILE_TIMEOUT"));
}

// The limit is one of processor time: of many compiles at once each takes it to its end, however long that is.
TEST(Isolation, ABusyMachineTripsNoLimit) {
  const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.5");
  const std::size_t count = 4 * std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  const auto start = std::chrono::steady_clock::now();
  std::atomic<std::size_t> stopped{0};
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&] { stopped += error_of(fresh(endless_source())).code() == ErrorCode::compile_error; });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(stopped, count);
  EXPECT_GE(taken.count(), 4 * 0.5 * 0.9);
}

// Nor does what happens before its process has begun: a machine may be so busy that this takes longer than the limit.
TEST(Isolation, WaitingForAProcessorTripsNoLimit) {
  const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.05");
  const auto limits = isolation::CompileLimits::from_environment();
  const auto before = limits.time_left();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_FALSE(limits.is_over());
  EXPECT_EQ(limits.time_left(), before);
  EXPECT_TRUE(isolation::CompileLimits::from_environment(std::chrono::milliseconds(60)).is_over());
}

// A library that took longer than what is the limit now leaves nothing to its kernels.
TEST(Isolation, OneLimitHoldsForTheWholeWayToAKernel) {
  for (const char* here : {"0", "1"}) {
    const Setting in_process("METALLOID_COMPILE_IN_PROCESS", here);
    std::string source =
        "constexpr int count(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += 1; return sum; }\n";
    for (int i = 0; i < 4; ++i) source += "static_assert(count(" + std::to_string(80000 + i) + ") > 0, \"\");\n";
    for (const char* kernels : {"kernel void f(device int* x) { *x = 1; }\n", many_instantiations}) {
      const Library library = Device::cpu().make_library(fresh(source + kernels));
      // Seconds of processor time, of which any library takes more, however busy the machine is.
      const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.01");
      try {
        library.kernel(library.kernel_names().front());
        ADD_FAILURE() << "compiled, in process: " << here;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::compile_error);
        EXPECT_THAT(error.what(), testing::ContainsRegex("takes longer than .METALLOID_COMPILE_TIMEOUT .120 s unless "
                                                         "set.; [0-9.]+ s of it went into the library"));
      }
    }
  }
}

TEST(Isolation, ALimitMetWhileTheStandardLibraryIsPreparedHarmsNothing) {
#if defined(METALLOID_MEMORY_IS_SHADOWED)
  GTEST_SKIP() << "the compiler's process has no limit of memory under this sanitizer";
#endif
  CompileOptions options;
  options.language = {2, 2};  // one that no other test asks for
  options.math_mode = MathMode::relaxed;
  const std::string source = fresh("kernel void f() {}\n");
  {
    const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.01"), cache("METALLOID_CACHE", "0");
    EXPECT_THAT(error_of(source, options).what(), HasSubstr("METALLOID_COMPILE_TIMEOUT"));
  }
  {
    const Setting limit("METALLOID_COMPILE_MEMORY", "8"), cache("METALLOID_CACHE", "0");
    EXPECT_THAT(error_of(source, options).what(), HasSubstr("METALLOID_COMPILE_MEMORY"));
  }
  EXPECT_EQ(Device::cpu().make_library(source, options).kernel_names().size(), 1u);
}

TEST(Isolation, MemoryIsLimited) {
#if defined(METALLOID_MEMORY_IS_SHADOWED)
  GTEST_SKIP() << "the compiler's process has no limit of memory under this sanitizer";
#endif
  const Setting limit("METALLOID_COMPILE_MEMORY", "100");
  const std::string source = fresh(
      "#define A 1,1,1,1,1,1,1,1\n#define B A,A,A,A,A,A,A,A\n#define C B,B,B,B,B,B,B,B\n"
      "#define D C,C,C,C,C,C,C,C\n#define E D,D,D,D,D,D,D,D\n#define F E,E,E,E,E,E,E,E\n"
      "constant int x[] = {F,F,F,F,F,F,F,F};\nkernel void f() {}\n");
  const Error error = error_of(source);
  EXPECT_EQ(error.code(), ErrorCode::compile_error);
  EXPECT_THAT(error.what(), HasSubstr("needs more memory than $METALLOID_COMPILE_MEMORY"));
}

TEST(Isolation, LimitsAreNumbers) {
  for (const char* name : {"METALLOID_COMPILE_TIMEOUT", "METALLOID_COMPILE_MEMORY"}) {
    for (const char* value : {"inf", "1e17", "1e300", "0", "600.5", ""}) {
      const Setting limit(name, value);
      EXPECT_EQ(Device::cpu().make_library(fresh("kernel void f() {}\n")).kernel_names().size(), 1u) << value;
    }
    for (const char* value : {"nan", "-1", "-inf", "soon", "5 s"}) {
      const Setting limit(name, value);
      const Error error = error_of(fresh("kernel void f() {}\n"));
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << value;
      EXPECT_THAT(error.what(), HasSubstr(std::string(name) + " is '" + value + "'"));
    }
  }
}

TEST(Isolation, InterruptsStopEveryCompile) {
  constexpr int count = 3;
  std::atomic<int> interrupted{0}, ended{0};
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      const Error error = error_of(fresh(endless_source()));
      if (error.code() == ErrorCode::kernel_interrupted) ++interrupted;
      ++ended;
    });
  }
  while (ended < count) {
    interrupt_kernels();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(interrupted, count);
}

TEST(Isolation, StoppedCompilesLeaveNoMemoryBehind) {
  const Setting limit("METALLOID_COMPILE_TIMEOUT", "0.1");
  const std::string source = endless_source();
  for (int i = 0; i < 3; ++i) error_of(source);
  const long before = resident_pages();
  for (int i = 0; i < 20; ++i) error_of(source);
  EXPECT_LT(resident_pages() - before, 1000) << "pages";  // 9 MB each, were they left behind here
}

TEST(Isolation, InThisProcessLimitsHoldToo) {
  const Setting here("METALLOID_COMPILE_IN_PROCESS", "1"), limit("METALLOID_COMPILE_TIMEOUT", "0.5");
  EXPECT_THAT(error_of(fresh(endless_source())).what(), HasSubstr("takes longer than $METALLOID_COMPILE_TIMEOUT"));
}

// No processor that we have multiplies these numbers, and LLVM says so by ending the process.
TEST(Isolation, LlvmsFatalErrorsAreErrorsWhereverTheCompilerRuns) {
  const std::string bitcode = ir::assemble(R"(
define void @k() {
  %x = alloca ppc_fp128
  %v = load volatile ppc_fp128, ptr %x
  %w = fmul ppc_fp128 %v, %v
  store volatile ppc_fp128 %w, ptr %x
  ret void
}
)");
  KernelInfo kernel;
  kernel.name = kernel.symbol = "k";
  kernel.source_file = "fatal.metal";
  const auto candidates = runtime::candidates_of(engines::all_devices().front().runners);
  const auto limits = isolation::CompileLimits::from_environment();
  for (const char* here : {"0", "1", "1", "0"}) {
    const Setting in_process("METALLOID_COMPILE_IN_PROCESS", here);
    try {
      runtime::compile_kernel(bitcode, {}, kernel, {}, candidates, limits);
      ADD_FAILURE() << "compiled, in process: " << here;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      EXPECT_STREQ(error.what(), "fatal.metal: the compiler crashed on kernel 'k': unsupported library call operation");
    }
  }
}

// What LLVM said last time, or to another thread, explains no other crash.
TEST(Isolation, AFatalErrorIsItsOwnThreadsAlone) {
  const isolation::CrashReport crash = isolation::run_compiler([] { ::raise(SIGFPE); });
  EXPECT_TRUE(crash.outcome.crashed());
  EXPECT_STREQ(crash.fatal_error.data(), "");
  EXPECT_TRUE(isolation::run_compiler([] {}).outcome.finished());
}

TEST(Isolation, WithoutAnExecutableTheCompilerRunsHere) {
  const pid_t child = fork();
  if (child == 0) {  // starts a process of its own, which is not there
    setenv("METALLOID_COMPILER", "/dev/null/none", 1);
    _exit(Device::cpu().make_library(fresh("kernel void f() {}\n")).kernel_names().size() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Isolation, ForkedChildrenCompile) {
  Device::cpu().make_library(fresh("kernel void f() {}\n"));
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(Device::cpu().make_library(fresh("kernel void g() {}\n")).kernel_names().size() == 1 ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Device::cpu().make_library(fresh("kernel void f() {}\n")).kernel_names().size(), 1u);
}

// Hosts that wait for all of their children do not wait for ever, and what they waited for is not missed.
TEST(Isolation, AHostMayWaitForAllChildren) {
  const pid_t host = fork();
  if (host == 0) {
    alarm(1000);
    for (int i = 0; i < 2; ++i) {
      Device::cpu().make_library(fresh("kernel void f() {}\n"));
      while (wait(nullptr) > 0) {
      }
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(host, &status, 0), host);
  EXPECT_EQ(status, 0);
}

TEST(Isolation, RelativeFoldersAreTheHostsOwn) {
  const auto previous = std::filesystem::current_path();
  const auto folder = std::filesystem::temp_directory_path() / ("metalloid-isolation-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "here.h") << "#define NAME here\n";
  std::filesystem::current_path(folder);
  CompileOptions options;
  options.include_directories = {"."};
  const Library library = Device::cpu().make_library(fresh("#include \"here.h\"\nkernel void NAME() {}\n"), options);
  std::filesystem::current_path(previous);
  std::filesystem::remove_all(folder);
  EXPECT_THAT(library.kernel_names(), testing::ElementsAre("here"));
}

}  // namespace isolation_test
}  // namespace metalloid
