// Runs the .metal files of tests/kernels on every device. A file carries its own runs and expectations in
// comments, each after what it expects from:
//
//   // RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=arange
//   // EXPECT x: 0 2 4 6            all elements of argument x after the run
//   // EXPECT x ~1e-6: 0.5 ...      with a tolerance, of |got - expected| / max(1, |expected|)
//   // ERROR kernel_crashed: text   instead: the run fails with this code and a message that contains the text
//
// RUN takes what `metalloid run FILE` takes (all but --device, --save and --print); COMPILE: flags compile the file
// with other options from there on. EXPECT's values may end in "x N" to stand N times: "1 x 5 2" is 1 1 1 1 1 2.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "argument.h"
#include "launch.h"
#include "metalloid/metalloid.h"
#include "options.h"

namespace metalloid::tool {
namespace {

struct Expectation {
  std::string argument;
  double tolerance = 0;
  std::vector<std::string> values;
};

struct PlannedRun {
  int line = 0;
  std::vector<std::string> compile_flags;
  std::vector<std::string> launch_flags;
  std::vector<Expectation> expectations = {};
  std::string error_code = {};  // empty: the run succeeds
  std::string error_text = {};
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Expectation parse_expectation(const std::string& head, const std::string& values) {
  Expectation expectation;
  const std::vector<std::string> parts = words_of(head);
  expectation.argument = parts.at(0);
  if (parts.size() > 1) expectation.tolerance = std::stod(parts[1].substr(1));
  const std::vector<std::string> words = words_of(values);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "x") {
      expectation.values.insert(expectation.values.end(), std::stoul(words.at(++i)) - 1, expectation.values.back());
    } else {
      expectation.values.push_back(words[i]);
    }
  }
  return expectation;
}

std::vector<PlannedRun> parse_runs(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<PlannedRun> runs;
  std::vector<std::string> compile_flags;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.starts_with("// ")) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string head = line.substr(3, colon - 3), rest = line.substr(colon + 1);
    if (head == "COMPILE") {
      compile_flags = words_of(rest);
    } else if (head == "RUN") {
      runs.push_back({.line = number, .compile_flags = compile_flags, .launch_flags = words_of(rest)});
    } else if (head.starts_with("RUN+") && !runs.empty()) {
      for (std::string& word : words_of(rest)) runs.back().launch_flags.push_back(std::move(word));
    } else if (head.starts_with("EXPECT ") && !runs.empty()) {
      runs.back().expectations.push_back(parse_expectation(head.substr(7), rest));
    } else if (head.starts_with("ERROR ") && !runs.empty()) {
      runs.back().error_code = head.substr(6);
      runs.back().error_text = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    }
  }
  return runs;
}

// The flags as the command line would read them.
template <typename Add>
void parse_flags(std::vector<std::string> flags, Add add) {
  CLI::App app;
  add(app);
  std::reverse(flags.begin(), flags.end());
  app.parse(std::move(flags));
}

std::vector<std::string> with_two_dashes(std::vector<std::string> flags) {
  std::vector<char*> pointers = {nullptr};
  for (std::string& flag : flags) pointers.push_back(flag.data());
  return double_dashes(static_cast<int>(pointers.size()), pointers.data());
}

void check(const Expectation& expectation, const Launch& launch) {
  const Array& array = launch.find(expectation.argument).array;
  ASSERT_EQ(array.element_count(), expectation.values.size()) << "elements of " << expectation.argument;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < array.element_count() && wrong < 8; ++i) {
    const double got = element_as_double(array, i);
    const double want = std::stod(expectation.values[i]);
    const bool same = std::isnan(want) ? std::isnan(got)
                      : std::isinf(want) || expectation.tolerance == 0
                          ? got == want
                          : std::abs(got - want) <= expectation.tolerance * std::max(1.0, std::abs(want));
    if (!same) {
      ++wrong;
      ADD_FAILURE() << fmt::format("{}[{}] is {}, expected {}", expectation.argument, i, got, want);
    }
  }
}

struct Case {
  std::filesystem::path file;
  std::string device;
};

void PrintTo(const Case& c, std::ostream* stream) { *stream << c.file.filename().string() << " on " << c.device; }

class KernelFile : public testing::TestWithParam<Case> {};

TEST_P(KernelFile, ComputesWhatItSays) {
  const std::vector<PlannedRun> runs = parse_runs(GetParam().file);
  ASSERT_FALSE(runs.empty()) << "no '// RUN:' line in " << GetParam().file;
  const Device device = Device::named(GetParam().device);
  for (const PlannedRun& run : runs) {
    SCOPED_TRACE(fmt::format("{}:{} on {}", GetParam().file.string(), run.line, GetParam().device));
    ASSERT_TRUE(!run.expectations.empty() || !run.error_code.empty()) << "a run that expects nothing";
    CompilerFlags flags;
    LaunchOptions options;
    try {
      parse_flags(with_two_dashes(run.compile_flags), [&](CLI::App& app) { add_compiler_flags(app, flags); });
      parse_flags(run.launch_flags, [&](CLI::App& app) { add_launch_options(app, options); });
    } catch (const CLI::Error& error) {
      FAIL() << error.what();
    }
    try {
      const Library library = device.load_library(GetParam().file, compile_options(flags));
      Launch launch(library, options);
      launch.execute();
      EXPECT_EQ(run.error_code, "") << "the run was expected to fail and did not";
      for (const Expectation& expectation : run.expectations) check(expectation, launch);
    } catch (const Error& error) {
      EXPECT_EQ(name_of(error.code()), run.error_code) << error.what();
      EXPECT_NE(std::string(error.what()).find(run.error_text), std::string::npos) << error.what();
    } catch (const UsageError& error) {
      FAIL() << error.what();
    }
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(METALLOID_TESTS_FOLDER "/kernels")) {
    if (entry.path().extension() != ".metal") continue;
    for (const Device& device : Device::all()) cases.push_back({entry.path(), device.name()});
  }
  std::ranges::sort(cases, {}, [](const Case& c) { return std::pair(c.file, c.device); });
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file.stem().string() + "_on_" + info.param.device;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelFile, testing::ValuesIn(all_cases()), name_of_case);

}  // namespace
}  // namespace metalloid::tool
