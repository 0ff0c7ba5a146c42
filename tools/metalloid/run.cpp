// `metalloid run`: launches one kernel and shows or saves what it computed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "argument.h"
#include "files.h"
#include "launch.h"
#include "npy.h"
#include "options.h"
#include "output.h"
#include "remark.h"

namespace metalloid::tool {
namespace {

using Seconds = std::chrono::duration<double>;

std::string describe(Seconds time) {
  if (time.count() < 1e-3) return fmt::format("{:.1f} us", time.count() * 1e6);
  if (time.count() < 1) return fmt::format("{:.2f} ms", time.count() * 1e3);
  return fmt::format("{:.2f} s", time.count());
}

void print_array(const BoundArgument& argument) {
  const Array& array = argument.array;
  print_result("{}: {}[{}]\n{}\n", argument.info.name, name_of(array.kind), fmt::join(array.shape, ","),
               format_array(array));
}

// The device, and the engine if it is not the device's first.
std::string place_of(const Kernel& kernel, const std::string& device) {
  if (kernel.engine() == kernel.device().engine()) return device;
  std::string reasons;
  for (const Remark& remark : kernel.remarks()) reasons += (reasons.empty() ? "" : "; ") + remark_text(remark);
  return fmt::format("{}, engine {} ({})", device, kernel.engine(), reasons);
}

struct Settings {
  std::string file;
  std::string device = "cpu";
  LaunchOptions launch;
  std::vector<std::string> saves;
  std::vector<std::string> prints;
  CompilerFlags flags;
};

// What --save asks for.
struct Save {
  const BoundArgument* argument;
  std::unique_ptr<OutputFile> file;
};

Save parse_save(const std::string& text, const Launch& launch, const std::vector<Save>& others) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw UsageError(fmt::format("--save {}: give NAME_OR_INDEX=FILE.npy", shortened(text)));
  }
  Save save{&launch.find(text.substr(0, equals)), std::make_unique<OutputFile>(text.substr(equals + 1))};
  for (const Save& other : others) {
    if (!save.file->is_same_file(*other.file)) continue;
    throw UsageError(fmt::format("--save {}: '{}' is saved to this file", shortened(text), other.argument->info.name));
  }
  return save;
}

int run_kernel(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const Library library = load_source(Device::named(settings.device), settings.file, settings.flags);
  Launch launch(library, settings.launch);
  const Seconds prepared = std::chrono::steady_clock::now() - start;

  // Before the kernel runs, so that a typing error or a full folder does not cost its run.
  std::vector<Save> saves;
  for (const std::string& text : settings.saves) saves.push_back(parse_save(text, launch, saves));
  std::vector<const BoundArgument*> prints;
  for (const std::string& name : settings.prints) prints.push_back(&launch.find(name));
  if (settings.saves.empty() && settings.prints.empty()) {
    for (const BoundArgument& argument : launch.arguments()) {
      if (argument.info.access == Access::read_write) prints.push_back(&argument);
    }
  }

  if (settings.launch.group == "auto") {
    const TuneResult tuned = launch.tune_once();
    launch.set_group(tuned.best());
    print_message("{}\n", tuned.summary());
  } else if (settings.launch.group.empty()) {
    launch.set_default_group();
  }
  std::vector<Seconds> times = launch.execute();
  for (const BoundArgument* argument : prints) print_array(*argument);
  for (const Save& save : saves) write_npy(*save.file, save.argument->array);

  std::ranges::sort(times);
  const std::string runs = times.size() == 1 ? fmt::format("ran in {}", describe(times[0]))
                                             : fmt::format("ran {} times: fastest {}, median {}", times.size(),
                                                           describe(times[0]), describe(times[times.size() / 2]));
  print_message("{} on {}: {}; ready after {}{}, {}\n", printable_name(launch.kernel().name()),
                place_of(launch.kernel(), settings.device), launch.grid_text(), describe(prepared),
                launch.kernel().came_from_cache() ? " (cached)" : "", runs);
  return exit_fine;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("run", "Runs one kernel of a file");
  command->add_option("FILE", settings->file, "Metal source")->required();
  add_launch_options(*command, settings->launch);
  command->get_option("--group")->description(
      "Threads per threadgroup X[,Y[,Z]], at most 1024 in all; auto: what `metalloid tune` finds (default with "
      "--threads: as many along X as the kernel allows)");
  add_whole_number(*command, "--repeat", "Run N times, each from the same input, and report the times", 1,
                   1'000'000'000,
                   [settings](std::uint64_t count) { settings->launch.repeat = static_cast<std::uint32_t>(count); });
  command->add_option("--device", settings->device, "One of `metalloid devices` (default: cpu)");
  command->add_option("--save", settings->saves, "Write an argument to a file after the run")
      ->type_name("NAME_OR_INDEX=FILE.npy")
      ->allow_extra_args(false);
  command->add_option("--print", settings->prints, "Print an argument after the run (default: all that were writable)")
      ->type_name("NAME_OR_INDEX")
      ->allow_extra_args(false);
  add_compiler_flags(*command, settings->flags);
  command->footer(spec_help() +
                  "\n"
                  "Examples:\n"
                  "  metalloid run saxpy.metal --kernel saxpy --threads 1000 --group 256 \\\n"
                  "      --arg y=f32[1000]=ones --arg x=f32[1000]=arange --arg a=0.5\n"
                  "  metalloid run softmax.metal --kernel softmax --threadgroups 8 --group 256 \\\n"
                  "      --arg in.npy --arg f32[8,1024]=zeros --arg 1024 --save 1=out.npy");
  command->callback([settings, &exit_code] { exit_code = run_kernel(*settings); });
}

}  // namespace metalloid::tool
