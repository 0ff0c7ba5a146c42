// Code for GPUs on machines without one: every kernel of tests/kernels and examples/kernels is compiled for the device
// of a library that stands in for NVIDIA's driver (tests/cuda/stand_in.cpp), which has each module assembled by ptxas
// where there is one. CTest runs this with $METALLOID_CUDA_DRIVER; what the kernels compute is seen on a GPU alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"
#include "options.h"

namespace metalloid {
namespace cuda_code_test {

using testing::AnyOf;
using testing::HasSubstr;

const std::filesystem::path tests = METALLOID_TESTS_FOLDER;

std::vector<std::filesystem::path> all_files() {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& folder : {tests / "kernels", tests.parent_path() / "examples" / "kernels"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".metal") files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// By the flags of its first COMPILE line.
CompileOptions options_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> flags;
  for (std::string line; std::getline(stream, line);) {
    constexpr std::string_view head = "// COMPILE:";
    if (!line.starts_with(head)) continue;
    std::istringstream words(line.substr(head.size()));
    for (std::string word; words >> word;) flags.push_back(word);
    break;
  }
  std::vector<char*> pointers = {nullptr};
  for (std::string& flag : flags) pointers.push_back(flag.data());
  std::vector<std::string> doubled = tool::double_dashes(static_cast<int>(pointers.size()), pointers.data());
  std::ranges::reverse(doubled);
  CLI::App app;
  tool::CompilerFlags compiler;
  tool::add_compiler_flags(app, compiler);
  app.parse(std::move(doubled));
  return tool::compile_options(compiler);
}

class CudaCode : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(CudaCode, IsTakenByTheDriver) {
  if (!std::getenv("METALLOID_CUDA_DRIVER")) GTEST_SKIP() << "for the driver's stand-in";
  const Device device = Device::named("cuda");
  const Library library = device.load_library(GetParam(), options_of(GetParam()));
  for (const KernelInfo& kernel : library.info().kernels) {
    try {
      const Kernel made = library.kernel(kernel.name);
      EXPECT_EQ(made.engine(), "cuda") << kernel.name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  AnyOf(HasSubstr("needs a value for function constant"), HasSubstr("no engine takes kernel"),
                        HasSubstr("the limit is"), HasSubstr("threadgroup memory"), HasSubstr("too many variables")))
          << kernel.name;
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, CudaCode, testing::ValuesIn(all_files()), name_of_case);

}  // namespace cuda_code_test
}  // namespace metalloid
