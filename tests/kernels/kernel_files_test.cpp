// Runs the .metal files of tests/kernels on every device. A file carries its own runs and expectations in
// comments, each after what it expects from:
//
//   // RUN: --kernel twice --threads 4 --group 4 --arg x=f32[4]=arange
//   // EXPECT x: 0 2 4 6            all elements of argument x after the run
//   // EXPECT x ~1e-6: 0.5 ...      with a tolerance, of |got - expected| / max(1, |expected|)
//   // ERROR kernel_crashed: text   instead: the run fails with this code and a message that contains the text
//
// A line "// ENGINE: simd" behind a run fails it on device cpu unless that engine runs the kernel.
//
// "// EXCEPT: cuda" behind a run leaves it out on that device and those with a number (cuda:1): what it asks for is not
// the hardware's.
//
// RUN takes what `metalloid run FILE` takes (all but --device, --save and --print), and goes on in "// RUN+:" lines;
// COMPILE: flags compile the file with other options from there on. A further ERROR line names another text of the same
// message. EXPECT's values, which go on in "// EXPECT+:" lines, may be patterns:
//
//   1 x 5 2             1 1 1 1 1 2
//   (1 2) x 3 7         1 2 1 2 1 2 7      groups may hold groups
//   3 5 .. 11           3 5 7 9 11         steps of the last two values, up to the one that is named
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "argument.h"
#include "launch.h"
#include "metalloid/metalloid.h"
#include "options.h"
#include "remark.h"

namespace metalloid::tool {
namespace kernel_files_test {

struct Expectation {
  std::string argument;
  double tolerance = 0;
  std::string pattern;
  int line = 0;
};

struct PlannedRun {
  int line = 0;
  std::vector<std::string> compile_flags;
  std::vector<std::string> launch_flags;
  std::vector<Expectation> expectations = {};
  std::string engine = {};      // of device cpu
  std::string except = {};      // the device that is not asked
  std::string error_code = {};  // empty: the run succeeds
  std::vector<std::string> error_texts = {};
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Expectation parse_expectation(const std::string& head, const std::string& values, int line) {
  const std::vector<std::string> parts = words_of(head);
  return {.argument = parts.at(0),
          .tolerance = parts.size() > 1 ? std::stod(parts[1].substr(1)) : 0,
          .pattern = values,
          .line = line};
}

// Takes the values of a pattern up to its end, or to the ")" of the group that it is.
std::vector<double> take_values(std::vector<std::string>::const_iterator& word,
                                std::vector<std::string>::const_iterator end, bool is_group) {
  std::vector<double> values;
  std::size_t last = 0;  // how many values the last word or group gave
  for (; word != end && !(is_group && *word == ")"); ++word) {
    if (*word == "(") {
      const std::vector<double> group = take_values(++word, end, true);
      values.insert(values.end(), group.begin(), group.end());
      last = group.size();
    } else if (*word == "x") {
      if (++word == end || last == 0) throw std::invalid_argument("'x' without what it repeats");
      const std::vector<double> group(values.end() - static_cast<std::ptrdiff_t>(last), values.end());
      for (unsigned long n = std::stoul(*word); n > 1; --n) values.insert(values.end(), group.begin(), group.end());
      last = 0;
    } else if (*word == "..") {
      if (++word == end || values.size() < 2) throw std::invalid_argument("'..' without two values before it");
      const double from = values.back(), step = from - values[values.size() - 2], to = std::stod(*word);
      const double steps = (to - from) / step;
      if (!(steps >= 1) || steps != std::floor(steps)) throw std::invalid_argument("'..' does not lead to " + *word);
      for (double k = 1; k <= steps; ++k) values.push_back(from + k * step);
      last = 0;
    } else {
      values.push_back(std::stod(*word));
      last = 1;
    }
  }
  if (is_group && word == end) throw std::invalid_argument("a group without ')'");
  return values;
}

std::vector<double> values_of(const std::string& pattern) {
  std::string spaced;
  for (const char c : pattern) spaced += c == '(' || c == ')' ? fmt::format(" {} ", c) : std::string(1, c);
  const std::vector<std::string> words = words_of(spaced);
  auto word = words.begin();
  return take_values(word, words.end(), false);
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
      runs.back().expectations.push_back(parse_expectation(head.substr(7), rest, number));
    } else if (head == "EXPECT+" && !runs.empty() && !runs.back().expectations.empty()) {
      runs.back().expectations.back().pattern += " " + rest;
    } else if (head == "ENGINE" && !runs.empty()) {
      runs.back().engine = words_of(rest).at(0);
    } else if (head == "EXCEPT" && !runs.empty()) {
      runs.back().except = words_of(rest).at(0);
    } else if (head.starts_with("ERROR ") && !runs.empty()) {
      runs.back().error_code = head.substr(6);
      runs.back().error_texts.push_back(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
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

void check(const Expectation& expectation, const CommandLineLaunch& launch) {
  const Array& array = launch.find(expectation.argument).array;
  std::vector<double> values;
  try {
    values = values_of(expectation.pattern);
  } catch (const std::exception& error) {
    FAIL() << "line " << expectation.line << ": " << error.what();
  }
  ASSERT_EQ(array.element_count(), values.size()) << "elements of " << expectation.argument;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < array.element_count() && wrong < 8; ++i) {
    const double got = element_as_double(array, i);
    const double want = values[i];
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

std::string text_of(const std::vector<Remark>& remarks) {
  std::string text;
  for (const Remark& remark : remarks) text += remark_text(remark) + "\n";
  return text;
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
    if (!run.except.empty() && (device.name() + ":").starts_with(run.except + ":")) continue;
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
      CommandLineLaunch launch(library, options);
      EXPECT_TRUE(launch.kernel().engine() == device.engine() || !launch.kernel().remarks().empty())
          << "the kernel fell back to engine " << launch.kernel().engine() << " without a remark";
      if (!run.engine.empty() && device.name() == "cpu") {
        EXPECT_EQ(launch.kernel().engine(), run.engine) << text_of(launch.kernel().remarks());
      }
      launch.execute();
      EXPECT_EQ(run.error_code, "") << "the run was expected to fail and did not";
      for (const Expectation& expectation : run.expectations) check(expectation, launch);
    } catch (const Error& error) {
      EXPECT_EQ(name_of(error.code()), run.error_code) << error.what();
      for (const std::string& text : run.error_texts) {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << text << "\n" << error.what();
      }
    } catch (const UsageError& error) {
      FAIL() << error.what();
    }
  }
}

const std::filesystem::path folder = METALLOID_TESTS_FOLDER "/kernels";

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".metal") continue;
    for (const Device& device : Device::all()) cases.push_back({entry.path(), device.name()});
  }
  std::ranges::sort(cases, {}, [](const Case& c) { return std::pair(c.file, c.device); });
  return cases;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const std::filesystem::path file = info.param.file.lexically_relative(folder).replace_extension();
  std::string name = file.string() + "_on_" + info.param.device;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

TEST(ExpectedValues, MayBePatterns) {
  EXPECT_EQ(values_of("1 x 5 2"), (std::vector<double>{1, 1, 1, 1, 1, 2}));
  EXPECT_EQ(values_of("((1 2) x 2 3 x 2) x 2 7"), (std::vector<double>{1, 2, 1, 2, 3, 3, 1, 2, 1, 2, 3, 3, 7}));
  EXPECT_EQ(values_of("3 5 .. 11 (4 3 .. 1) x 2"), (std::vector<double>{3, 5, 7, 9, 11, 4, 3, 2, 1, 4, 3, 2, 1}));
  for (const char* wrong : {"x 2", "1 x", "(1 2", "1 2 .. 1", "1 3 .. 6", "5 .. 7", "1 2 .. 3 x 2", "word"}) {
    EXPECT_THROW(values_of(wrong), std::exception) << wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelFile, testing::ValuesIn(all_cases()), name_of_case);

}  // namespace kernel_files_test
}  // namespace metalloid::tool
