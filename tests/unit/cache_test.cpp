// The disk cache, seen from outside: what comes from it, and what makes it miss.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid {
namespace cache_test {

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
    unsetenv("METALLOID_CACHE_SIZE");
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
           std::to_string(value) + "f + (is_function_constant_defined(c) ? c : 0); }";
  }

  std::vector<fs::path> entries(const char* kind) const {
    std::vector<fs::path> found;
    if (!fs::exists(folder / "cache" / kind)) return found;
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

TEST_F(DiskCache, ProcessesThatWantTheSameAtTheSameTimeMakeItOnce) {
  struct Made {
    int library = 0, kernel = 0;
  };
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    Library library = Device::cpu().make_library(source(9));
    Kernel kernel = library.kernel("test");
    const Made made{!library.came_from_cache(), !kernel.came_from_cache()};
    _exit(write(channel[1], &made, sizeof(made)) == sizeof(made) ? 0 : 1);
  }
  close(channel[1]);
  Made all, one;
  while (read(channel[0], &one, sizeof(one)) == sizeof(one)) {
    all.library += one.library;
    all.kernel += one.kernel;
  }
  close(channel[0]);
  EXPECT_EQ(all.library, 1);
  EXPECT_EQ(all.kernel, 1);
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(entries("turns").empty());
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

TEST_F(DiskCache, StaysWithinItsSize) {
  setenv("METALLOID_CACHE_SIZE", "16", 1);  // MiB
  const auto make = [](int i) { return [=] { return Device::cpu().make_library(source(100.0f + i)); }; };
  in_new_process(make(0));
  // What other processes left: 24 MiB, each file older than the one before.
  const fs::path libraries = folder / "cache" / "libraries", kernels = folder / "cache" / "kernels";
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 12; ++i) {
    const fs::path file = (i % 2 ? libraries : kernels) / ("left" + std::to_string(i));
    std::ofstream(file, std::ios::binary).close();
    fs::resize_file(file, 2 << 20);
    fs::last_write_time(file, now - std::chrono::hours(1 + i));
  }
  for (const char* kind : {"libraries", "kernels", "preludes"}) {  // its own are oldest, until they are used
    for (const fs::path& file : entries(kind)) {
      if (file.filename().string().starts_with("left")) continue;
      fs::last_write_time(file, now - std::chrono::hours(100));
    }
  }
  EXPECT_EQ(in_new_process(make(0)), (Found{true, true, 100}));  // reads alone remove nothing
  EXPECT_TRUE(fs::exists(libraries / "left11"));
  EXPECT_EQ(in_new_process(make(1)), (Found{false, false, 101}));
  std::uintmax_t total = 0;
  for (const char* kind : {"libraries", "kernels", "preludes"}) {
    for (const fs::path& file : entries(kind)) total += fs::file_size(file);
  }
  EXPECT_LE(total, std::uintmax_t{16} << 20);
  EXPECT_FALSE(fs::exists(libraries / "left11"));
  EXPECT_EQ(in_new_process(make(0)), (Found{true, true, 100}));  // used since, so it stayed
  EXPECT_EQ(in_new_process(make(1)), (Found{true, true, 101}));
}

TEST_F(DiskCache, ProcessesMayRemoveAtTheSameTime) {
  setenv("METALLOID_CACHE_SIZE", "16", 1);
  fs::create_directories(folder / "cache" / "kernels");
  for (int i = 0; i < 64; ++i) {
    const fs::path file = folder / "cache" / "kernels" / std::to_string(i);
    std::ofstream(file, std::ios::binary).close();
    fs::resize_file(file, 1 << 20);
  }
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    bool right = true;
    for (int i = 0; i < 4; ++i) {
      Kernel kernel = Device::cpu().make_library(source(static_cast<float>(i))).kernel("test");
      Buffer out(4);
      run(kernel, Dispatch().buffer(0, out).threads({1}, {1}));
      right = right && out.as<float>()[0] == static_cast<float>(i);
    }
    _exit(right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(DiskCache, MemoryServesTheSameProcess) {
  Library first = Device::cpu().make_library(source(6));
  EXPECT_FALSE(first.came_from_cache());
  EXPECT_FALSE(first.kernel("test").came_from_cache());
  Library second = Device::cpu().make_library(source(6));
  EXPECT_TRUE(second.came_from_cache());
  EXPECT_TRUE(second.kernel("test").came_from_cache());
}

}  // namespace cache_test
}  // namespace metalloid
