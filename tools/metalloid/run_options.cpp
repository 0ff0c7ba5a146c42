#include "run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "argument.h"
#include "npy.h"
#include "output.h"

namespace metalloid::tool {

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("FILE", options.file, "Metal source")->required();
  add_launch_options(command, options.launch);
  command.get_option("--group")->description(
      "Threads per threadgroup X[,Y[,Z]], at most 1024 in all; auto: what `metalloid tune` finds (default with "
      "--threads: as many along X as the kernel allows)");
  command.add_option("--device", options.device, "One of `metalloid devices` (default: cpu)");
  command.add_option("--save", options.saves, "Write an argument to a file after the run")
      ->type_name("NAME_OR_INDEX=FILE.npy")
      ->allow_extra_args(false);
  command.add_option("--print", options.prints, "Print an argument after the run")
      ->type_name("NAME_OR_INDEX")
      ->allow_extra_args(false);
  add_compiler_flags(command, options.flags);
}

void choose_group(CommandLineLaunch& launch, const RunOptions& options) {
  if (options.launch.group == "auto") {
    const TuneResult tuned = launch.tune_once();
    launch.set_group(tuned.best());
    print_message("{}\n", tuned.summary());
  } else if (options.launch.group.empty()) {
    launch.set_default_group();
  }
}

RunOutputs::RunOutputs(const CommandLineLaunch& launch, const RunOptions& options) : launch_(launch) {
  for (const std::string& text : options.saves) saves_.push_back(parse_save(text));
  for (const std::string& name : options.prints) prints_.push_back(&launch.find(name));
}

RunOutputs::Save RunOutputs::parse_save(const std::string& text) const {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(fmt::format("--save {}: give NAME_OR_INDEX=FILE.npy", shortened(text)));
  }
  Save save{&launch_.find(text.substr(0, equals)), std::make_unique<OutputFile>(text.substr(equals + 1))};
  for (const Save& other : saves_) {
    if (!save.file->is_same_file(*other.file)) continue;
    throw UsageError(fmt::format("--save {}: '{}' is saved to this file", shortened(text), other.argument->info.name));
  }
  return save;
}

void RunOutputs::print_all_writable() {
  for (const BoundArgument& argument : launch_.arguments()) {
    if (argument.info.access == Access::read_write) prints_.push_back(&argument);
  }
}

void RunOutputs::write() const {
  for (const BoundArgument* argument : prints_) {
    const Array& array = argument->array;
    print_result("{}: {}[{}]\n{}\n", argument->info.name, name_of(array.kind), fmt::join(array.shape, ","),
                 format_array(array));
  }
  for (const Save& save : saves_) write_npy(*save.file, save.argument->array);
}

}  // namespace metalloid::tool
