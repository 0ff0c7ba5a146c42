// `metalloid run`: launches one kernel and shows or saves what it computed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "launch.h"
#include "options.h"
#include "output.h"
#include "remark.h"
#include "run_options.h"

namespace metalloid::tool {
namespace {

using Seconds = std::chrono::duration<double>;

std::string describe(Seconds time) {
  if (time.count() < 1e-3) return fmt::format("{:.1f} us", time.count() * 1e6);
  if (time.count() < 1) return fmt::format("{:.2f} ms", time.count() * 1e3);
  return fmt::format("{:.2f} s", time.count());
}

// The device, and the engine if it is not the device's first.
std::string place_of(const Kernel& kernel, const std::string& device) {
  if (kernel.engine() == kernel.device().engine()) return device;
  std::string reasons;
  for (const Remark& remark : kernel.remarks()) reasons += (reasons.empty() ? "" : "; ") + remark_text(remark);
  return fmt::format("{}, engine {} ({})", device, kernel.engine(), reasons);
}

int run_kernel(const RunOptions& settings) {
  const auto start = std::chrono::steady_clock::now();
  const Library library = load_source(Device::named(settings.device), settings.file, settings.flags);
  CommandLineLaunch launch(library, settings.launch);
  const Seconds prepared = std::chrono::steady_clock::now() - start;

  RunOutputs outputs(launch, settings);
  if (outputs.empty()) outputs.print_all_writable();
  choose_group(launch, settings);
  std::vector<Seconds> times = launch.execute();
  outputs.write();

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
  auto settings = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Runs one kernel of a file");
  add_run_options(*command, *settings);
  command->get_option("--print")->description("Print an argument after the run (default: all that were writable)");
  add_whole_number(*command, "--repeat", "Run N times, each from the same input, and report the times", 1,
                   1'000'000'000,
                   [settings](std::uint64_t count) { settings->launch.repeat = static_cast<std::uint32_t>(count); });
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
