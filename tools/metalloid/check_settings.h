// What both ways of `metalloid check` share: of one kernel, and of all kernels of a program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files.h"
#include "metalloid/check.h"
#include "output.h"
#include "run_options.h"

namespace metalloid::tool {

struct CheckSettings {
  RunOptions run;
  std::vector<std::string> program;  // behind --, with its arguments
  std::vector<std::string> only, also, skip;
  CheckOptions check;
  std::vector<std::string> suppressions, suppression_files;
  std::string json, sarif;  // files; "-": stdout; empty: nobody asked
  std::string colour = "auto";
};

// Throws UsageError.
CheckOptions check_options(const CheckSettings& settings);

// A report for programs. Its file is opened before the kernel runs, so that a full folder does not cost its run.
class Report {
 public:
  explicit Report(const std::string& file) : is_stdout_(file == "-") {
    if (!file.empty() && !is_stdout_) file_ = std::make_unique<OutputFile>(file);
  }
  bool is_wanted() const { return is_stdout_ || file_; }
  bool is_same_file(const Report& other) const {
    return (is_stdout_ && other.is_stdout_) || (file_ && other.file_ && file_->is_same_file(*other.file_));
  }
  void write(std::string_view text) const {
    if (is_stdout_) write_result(text);
    if (!file_) return;
    file_->write(text);
    file_->finish();
  }

 private:
  bool is_stdout_;
  std::unique_ptr<OutputFile> file_;
};

std::string plural(std::uint64_t count, std::string_view word);

int check_program(const CheckSettings& settings);

}  // namespace metalloid::tool
