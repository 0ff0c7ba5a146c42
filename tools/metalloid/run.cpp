// `metalloid run`: launches one kernel and shows or saves what it computed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "argument.h"
#include "launch.h"
#include "npy.h"

namespace metalloid::tool {
namespace {

using Seconds = std::chrono::duration<double>;

std::string describe(Seconds time) {
  if (time.count() < 1e-3) return fmt::format("{:.1f} us", time.count() * 1e6);
  if (time.count() < 1) return fmt::format("{:.2f} ms", time.count() * 1e3);
  return fmt::format("{:.2f} s", time.count());
}

void print(const BoundArgument& argument) {
  const Array& array = argument.array;
  fmt::print("{}: {}[{}]\n{}\n", argument.info.name, name_of(array.kind), fmt::join(array.shape, ","),
             format_array(array));
}

struct Settings {
  std::string file;
  std::string device = "cpu";
  LaunchOptions launch;
  std::vector<std::string> saves;
  std::vector<std::string> prints;
  CompilerFlags flags;
};

int run_kernel(const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  const Library library = Device::named(settings.device).load_library(settings.file, compile_options(settings.flags));
  show_warnings(library);
  Launch launch(library, settings.launch);
  const Seconds prepared = std::chrono::steady_clock::now() - start;

  // Before the kernel runs, so that a typing error does not cost its run.
  std::vector<std::pair<const BoundArgument*, std::string>> saves;
  for (const std::string& save : settings.saves) {
    const auto equals = save.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("--save {}: give NAME_OR_INDEX=FILE.npy", save));
    saves.emplace_back(&launch.find(save.substr(0, equals)), save.substr(equals + 1));
  }
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
    fmt::print(stderr, "{}\n", tuned.summary());
  } else if (settings.launch.group.empty()) {
    launch.set_default_group();
  }
  std::vector<Seconds> times = launch.execute();
  for (const BoundArgument* argument : prints) print(*argument);
  for (const auto& [argument, file] : saves) write_npy(file, argument->array);

  std::ranges::sort(times);
  const std::string runs = times.size() == 1 ? fmt::format("ran in {}", describe(times[0]))
                                             : fmt::format("ran {} times: fastest {}, median {}", times.size(),
                                                           describe(times[0]), describe(times[times.size() / 2]));
  fmt::print(stderr, "{} on {}: {}; ready after {}{}, {}\n", launch.kernel().name(), settings.device,
             launch.grid_text(), describe(prepared), launch.kernel().came_from_cache() ? " (cached)" : "", runs);
  return exit_fine;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto settings = std::make_shared<Settings>();
  CLI::App* command = app.add_subcommand("run", "Runs one kernel of a file");
  command->add_option("FILE", settings->file, "Metal source")->required()->check(CLI::ExistingFile);
  add_launch_options(*command, settings->launch);
  command->get_option("--group")->description(
      "Threads per threadgroup X[,Y[,Z]], at most 1024 in all; auto: what `metalloid tune` finds (default with "
      "--threads: as many along X as the kernel allows)");
  command
      ->add_option("--repeat", settings->launch.repeat, "Run N times, each from the same input, and report the times")
      ->check(CLI::PositiveNumber);
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
