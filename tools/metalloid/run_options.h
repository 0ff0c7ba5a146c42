// What `metalloid run` and `metalloid check` have in common: one kernel of a file, and what is shown or saved of it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "files.h"
#include "launch.h"
#include "options.h"

namespace metalloid::tool {

struct RunOptions {
  std::string file;
  std::string device = "cpu";
  LaunchOptions launch;
  std::vector<std::string> saves;
  std::vector<std::string> prints;
  CompilerFlags flags;
};

void add_run_options(CLI::App& command, RunOptions& options);

// The launch's group, as --group says; measures for "auto".
void choose_group(CommandLineLaunch& launch, const RunOptions& options);

// What --save and --print ask for.
class RunOutputs {
 public:
  // Before the kernel runs, so that a typing error or a full folder does not cost its run. Throws UsageError.
  RunOutputs(const CommandLineLaunch& launch, const RunOptions& options);
  bool empty() const { return saves_.empty() && prints_.empty(); }
  void print_all_writable();
  // After it ran. Throws Error(input_output).
  void write() const;

 private:
  struct Save {
    const BoundArgument* argument;
    std::unique_ptr<OutputFile> file;
  };
  Save parse_save(const std::string& text) const;

  const CommandLineLaunch& launch_;
  std::vector<Save> saves_;
  std::vector<const BoundArgument*> prints_;
};

}  // namespace metalloid::tool
