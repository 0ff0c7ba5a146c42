// The disk cache, seen from outside: what comes from it, and what makes it miss.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace {

namespace fs = std::filesystem;

class DiskCache : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("metalloid-cache-test-" + std::to_string(getpid()));

  void SetUp() override {
    fs::create_directories(folder);
    if (const char* old = std::getenv("METALLOID_CACHE_DIR")) previous_ = old;
    setenv("METALLOID_CACHE_DIR", (folder / "cache").c_str(), 1);
  }
  void TearDown() override {
    if (previous_.empty()) {
      unsetenv("METALLOID_CACHE_DIR");
    } else {
      setenv("METALLOID_CACHE_DIR", previous_.c_str(), 1);
    }
    unsetenv("METALLOID_CACHE");
    fs::remove_all(folder);
  }

  struct Found {
    bool library = false, kernel = false;
    float result = 0;
    bool operator==(const Found&) const = default;
  };

  // In a process of its own, whose memory holds nothing: did the library and the kernel come from disk, and what
  // does the kernel compute?
  static Found in_new_process(const std::function<Library()>& make, const FunctionConstants& constants = {}) {
    int channel[2];
    EXPECT_EQ(pipe(channel), 0);
    pid_t child = fork();
    if (child == 0) {
      Found found;
      try {
        Library library = make();
        Kernel kernel = library.kernel("test", constants);
        Buffer out(4);
        run(kernel, Dispatch().buffer(0, out).threads({1}, {1}));
        found = {library.came_from_cache(), kernel.came_from_cache(), out.as<float>()[0]};
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        _exit(1);
      }
      ssize_t written = write(channel[1], &found, sizeof(found));
      _exit(written == sizeof(found) ? 0 : 1);
    }
    close(channel[1]);
    Found found;
    EXPECT_EQ(read(channel[0], &found, sizeof(found)), static_cast<ssize_t>(sizeof(found)));
    close(channel[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return found;
  }

  static std::string source(float value) {
    return "constant int c [[function_constant(0)]];\nkernel void test(device float* out) { out[0] = " +
           std::to_string(value) + "f + c; }";
  }

  std::vector<fs::path> entries(const char* kind) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder / "cache" / kind)) found.push_back(entry.path());
    return found;
  }

 private:
  std::string previous_;
};

TEST_F(DiskCache, ServesOtherProcesses) {
  auto make = [] { return Device::cpu().make_library(source(1)); };
  EXPECT_EQ(in_new_process(make), (Found{false, false, 1}));
  EXPECT_EQ(in_new_process(make), (Found{true, true, 1}));
  EXPECT_EQ(entries("libraries").size(), 1u);
  EXPECT_EQ(entries("kernels").size(), 1u);
}

TEST_F(DiskCache, KnowsWhatChangesTheResult) {
  auto make = [] { return Device::cpu().make_library(source(2)); };
  EXPECT_EQ(in_new_process(make), (Found{false, false, 2}));
  EXPECT_EQ(in_new_process(make, FunctionConstants().set(0, std::int64_t{5})), (Found{true, false, 7}));
  EXPECT_EQ(in_new_process(make, FunctionConstants().set(0, std::int64_t{6})), (Found{true, false, 8}));
  EXPECT_EQ(in_new_process([] { return Device::cpu().make_library(source(3)); }), (Found{false, false, 3}));
  auto defined = [](const char* value) {
    return [=] {
      CompileOptions options;
      options.definitions = {{"VALUE", value}};
      return Device::cpu().make_library("kernel void test(device float* out) { out[0] = VALUE; }", options);
    };
  };
  EXPECT_EQ(in_new_process(defined("4")), (Found{false, false, 4}));
  EXPECT_EQ(in_new_process(defined("5")), (Found{false, false, 5}));
  EXPECT_EQ(in_new_process(defined("4")), (Found{true, true, 4}));
}

TEST_F(DiskCache, SeesChangedHeaders) {
  auto make = [this] {
    CompileOptions options;
    options.include_directories = {folder};
    return Device::cpu().make_library("#include \"value.h\"\nkernel void test(device float* out) { out[0] = VALUE; }",
                                      options);
  };
  std::ofstream(folder / "value.h") << "#define VALUE 1\n";
  EXPECT_EQ(in_new_process(make), (Found{false, false, 1}));
  EXPECT_EQ(in_new_process(make), (Found{true, true, 1}));
  std::ofstream(folder / "value.h") << "#define VALUE 2\n";
  EXPECT_EQ(in_new_process(make), (Found{false, false, 2}));
  EXPECT_EQ(in_new_process(make), (Found{true, true, 2}));
  // The same within one process, where memory holds the library.
  EXPECT_TRUE(make().came_from_cache());
  EXPECT_TRUE(make().came_from_cache());
  std::ofstream(folder / "value.h") << "#define VALUE 3\n";
  EXPECT_FALSE(make().came_from_cache());
}

TEST_F(DiskCache, ReplacesDamagedEntries) {
  auto make = [] { return Device::cpu().make_library(source(4)); };
  EXPECT_EQ(in_new_process(make), (Found{false, false, 4}));
  for (const char* kind : {"libraries", "kernels"}) {
    fs::path entry = entries(kind).at(0);
    std::uintmax_t size = fs::file_size(entry);
    {
      std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(size / 2));
      file.put('\x7f').put('\x7f').put('\x7f').put('\x7f');
    }
    bool library = std::string(kind) == "libraries";
    // A library made anew is the same library: its kernels still fit.
    EXPECT_EQ(in_new_process(make), (Found{!library, library, 4})) << kind;
    EXPECT_EQ(in_new_process(make), (Found{true, true, 4})) << kind;
    fs::resize_file(entry, size / 3);
    EXPECT_EQ(in_new_process(make), (Found{!library, library, 4})) << kind;
    std::ofstream(entry, std::ios::trunc | std::ios::binary) << "";
    EXPECT_EQ(in_new_process(make), (Found{!library, library, 4})) << kind;
    EXPECT_EQ(in_new_process(make), (Found{true, true, 4})) << kind;
  }
}

TEST_F(DiskCache, CanBeTurnedOffAndMayBeUnwritable) {
  auto make = [] { return Device::cpu().make_library(source(5)); };
  setenv("METALLOID_CACHE", "0", 1);
  EXPECT_EQ(in_new_process(make), (Found{false, false, 5}));
  EXPECT_FALSE(fs::exists(folder / "cache"));
  unsetenv("METALLOID_CACHE");
  setenv("METALLOID_CACHE_DIR", "/dev/null/none", 1);
  EXPECT_EQ(in_new_process(make), (Found{false, false, 5}));
  EXPECT_EQ(in_new_process(make), (Found{false, false, 5}));
}

TEST_F(DiskCache, MemoryServesTheSameProcess) {
  Library first = Device::cpu().make_library(source(6));
  EXPECT_FALSE(first.came_from_cache());
  EXPECT_FALSE(first.kernel("test").came_from_cache());
  Library second = Device::cpu().make_library(source(6));
  EXPECT_TRUE(second.came_from_cache());
  EXPECT_TRUE(second.kernel("test").came_from_cache());
}

}  // namespace
}  // namespace metalloid
