// What a source can include: what it was given, in regular files of bounded size, and nothing else of its host.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontend/files/source_files.h"
#include "frontend/frontend.h"
#include "metalloid/metalloid.h"
#include "runtime/compile/compile_jobs.h"

namespace metalloid {
namespace source_files_test {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class SourceFilesTest : public testing::Test {
 protected:
  SourceFilesTest() {
    char name[] = "/tmp/metalloid_source_files_XXXXXX";
    folder = mkdtemp(name);
    options.include_directories = {folder / "given"};
    write("given/value.h", "constant int value = 3;");
    write("secret.h", "constant int value = 4;");
  }
  ~SourceFilesTest() override { fs::remove_all(folder); }

  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }

  std::string log_of(const std::string& source) const {
    try {
      return runtime::compile_library(source, options).library.warnings;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::compile_error) << error.what();
      return error.what();
    }
  }
  std::string log_of_include(const std::string& name) const {
    return log_of("#include \"" + name + "\"\nkernel void f(device int* x) { x[0] = value; }");
  }
  // What `__has_include` says of it.
  bool is_there(const std::string& name) const {
    return log_of("#if __has_include(\"" + name + "\")\n#error there\n#endif\nkernel void f() {}") != "";
  }

  fs::path folder;
  CompileOptions options;
};

TEST_F(SourceFilesTest, ReadsWhatWasGiven) {
  EXPECT_EQ(log_of_include("value.h"), "");
  EXPECT_EQ(log_of_include(folder / "given/value.h"), "");
  EXPECT_EQ(log_of_include("../given/./value.h"), "");
  EXPECT_TRUE(is_there("value.h"));
  options.headers["memory/value.h"] = "constant int value = 5;";
  EXPECT_EQ(log_of_include("memory/value.h"), "");
}

TEST_F(SourceFilesTest, ReadsNothingElse) {
  for (const std::string& name :
       {std::string(folder / "secret.h"), std::string("../secret.h"), std::string("../given/../secret.h"),
        std::string("/etc/passwd"), std::string("/proc/self/environ"), std::string("/dev/zero")}) {
    const std::string log = log_of_include(name);
    EXPECT_THAT(log, HasSubstr("file not found")) << name;
    EXPECT_THAT(log, HasSubstr("lies outside of the folders that this source may include from")) << name;
    EXPECT_THAT(log, Not(HasSubstr("root:"))) << name;
    EXPECT_FALSE(is_there(name));
    EXPECT_THAT(log_of("#import \"" + name + "\"\n"), HasSubstr("file not found"));
    EXPECT_EQ(log_of("#pragma GCC dependency \"" + name + "\"\nkernel void f() {}"), "");
  }
}

TEST_F(SourceFilesTest, ReadsNoWorkingFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const std::string log = log_of_include("secret.h");
  const bool found = is_there("secret.h") || is_there("./secret.h");
  options.include_directories.emplace_back(".");
  const std::string granted = log_of_include("secret.h");
  fs::current_path(before);
  EXPECT_THAT(log, HasSubstr("'secret.h' file not found"));
  EXPECT_FALSE(found);
  EXPECT_EQ(granted, "");
}

TEST_F(SourceFilesTest, FollowsLinksWithinAndRefusesThoseThatLeadOut) {
  fs::create_symlink("value.h", folder / "given/within.h");
  fs::create_symlink("../secret.h", folder / "given/out.h");
  fs::create_directory_symlink("..", folder / "given/up");
  EXPECT_EQ(log_of_include("within.h"), "");
  EXPECT_THAT(log_of_include("out.h"), HasSubstr("out.h' is a link to '" + (folder / "secret.h").string()));
  EXPECT_THAT(log_of_include("up/secret.h"), HasSubstr("file not found"));
  EXPECT_FALSE(is_there("out.h"));
  // A granted folder may be a link, as in trees that builds make.
  fs::create_directory_symlink(folder / "given", folder / "link");
  options.include_directories = {folder / "link"};
  EXPECT_EQ(log_of_include("value.h"), "");
  options.include_directories = {folder / "given", folder};  // granted, it is no way out
  EXPECT_EQ(log_of_include("out.h"), "");
}

TEST_F(SourceFilesTest, ReadsRegularFilesOfBoundedSizeOnly) {
  ASSERT_EQ(mkfifo((folder / "given/pipe.h").c_str(), 0600), 0);
  EXPECT_THAT(log_of_include("pipe.h"), HasSubstr("is no regular file"));
  EXPECT_FALSE(is_there("pipe.h"));
  fs::create_symlink("/dev/zero", folder / "given/zero.h");
  EXPECT_THAT(log_of_include("zero.h"), HasSubstr("is no regular file"));
  write("given/sparse.h", "");
  fs::resize_file(folder / "given/sparse.h", std::uintmax_t{1} << 40);
  EXPECT_THAT(log_of_include("sparse.h"), HasSubstr("is larger than 64 MiB"));
  fs::resize_file(folder / "given/sparse.h", 0);
  std::string all;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "large" + std::to_string(i) + ".h";
    write("given/" + name, "");
    fs::resize_file(folder / "given" / name, frontend::max_source_file_bytes - 4096);
    all += "#if __has_include(\"" + name + "\")\n#endif\n";
  }
  EXPECT_THAT(log_of(all + "#include \"large4.h\"\n"), HasSubstr("all files of a source are larger than 256 MiB"));
}

TEST_F(SourceFilesTest, AFolderIsNoHeaderMapAndNoHeader) {
  options.include_directories = {folder / "secret.h", folder / "missing", folder / "given"};
  EXPECT_EQ(log_of_include("value.h"), "");
  fs::create_directory(folder / "given/folder.h");
  EXPECT_THAT(log_of_include("folder.h"), HasSubstr("error"));
}

TEST_F(SourceFilesTest, HeadersInMemoryStayInTheirFolder) {
  for (const char* name : {"../stdlib/metal_math", "/metalloid/stdlib/metal_math", "", "..", "a/../../stdlib/x.h"}) {
    options.headers = {{name, "int x;"}};
    try {
      runtime::compile_library("kernel void f() {}", options);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << name;
    }
  }
}

TEST_F(SourceFilesTest, FilesReachTheirProject) {
  write("project/.git/HEAD", "");
  write("project/shared/value.h", "#include \"../deep/more.h\"\n");
  write("project/deep/more.h", "constant int value = 3;");
  write("project/kernels/a/k.metal",
        "#include \"../../shared/value.h\"\nkernel void f(device int* x) { x[0] = value; }");
  write("project/kernels/a/out.metal", "#include \"../../../secret.h\"\nkernel void f() {}");
  write("project/kernels/a/absolute.metal", "#include \"/etc/passwd\"\nkernel void f() {}");
  const auto load = [&](const char* name) {
    try {
      return Device::cpu().load_library(folder / "project/kernels/a" / name).warnings();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(load("k.metal"), "");
  EXPECT_THAT(load("out.metal"), HasSubstr("lies outside"));
  EXPECT_THAT(load("absolute.metal"), HasSubstr("lies outside"));
  fs::remove_all(folder / "project/.git");  // without version control: all below the folder for temporary files
  EXPECT_EQ(load("k.metal"), "");
  EXPECT_EQ(load("out.metal"), "");
  EXPECT_THAT(load("absolute.metal"), HasSubstr("lies outside"));
}

TEST_F(SourceFilesTest, MetalHasNoEmbed) {
  for (const char* name : {"value.h", "missing.h", "/etc/passwd"}) {
    const std::string log =
        log_of("constant char d[] = {\n#embed \"" + std::string(name) + "\"\n};\nkernel void f() {}");
    EXPECT_THAT(log, HasSubstr("2:2: fatal error: invalid preprocessing directive '#embed'")) << name;
  }
}

// What a cache compares.
TEST_F(SourceFilesTest, KnowsWhatWouldBeFoundNow) {
  options.include_directories = {folder / "first", folder / "given"};
  const auto result = runtime::compile_library(
      "#include \"value.h\"\n#if __has_include(\"extra/new.h\")\n#endif\nkernel void f(device int* x) { x[0] = value; "
      "}",
      options);
  const auto is_current = [&] { return frontend::are_current(result.dependencies, options); };
  EXPECT_TRUE(is_current());
  write("given/value.h", "constant int value = 4;");
  EXPECT_FALSE(is_current());
  write("given/value.h", "constant int value = 3;");
  EXPECT_TRUE(is_current());
  write("first/value.h", "constant int value = 3;");  // in an earlier folder
  EXPECT_FALSE(is_current());
  fs::remove_all(folder / "first");
  write("given/extra/new.h", "");  // for __has_include
  EXPECT_FALSE(is_current());
  fs::remove_all(folder / "given/extra");
  EXPECT_TRUE(is_current());
  fs::remove(folder / "given/value.h");
  EXPECT_FALSE(is_current());
}

TEST_F(SourceFilesTest, CachedLibrariesAreMadeAnewForNewHeaders) {
  options.include_directories = {folder / "first", folder / "given"};
  const auto kernel_of = [&] {
    return Device::cpu().make_library("#include \"value.h\"\nkernel void f(device int* x) { x[0] = value; }", options);
  };
  (void)kernel_of();
  EXPECT_TRUE(kernel_of().came_from_cache());
  write("first/value.h", "constant int value = 30;");
  const Library library = kernel_of();
  EXPECT_FALSE(library.came_from_cache());
  Buffer x(4);
  run(library.kernel("f"), Dispatch().buffer(0, x).threads({1}, {1}));
  EXPECT_EQ(x.as<int>()[0], 30);
}

}  // namespace source_files_test
}  // namespace metalloid
