// `metalloid tune`: measures a kernel's threadgroup sizes, shows them and remembers the best.
#include "metalloid/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "argument.h"
#include "json.h"
#include "launch.h"
#include "output.h"

namespace metalloid::tool {
namespace {

using Json = nlohmann::ordered_json;

struct TuneSettings {
  std::string file;
  std::string device = "cpu";
  LaunchOptions launch;
  std::vector<std::string> groups;
  TuneOptions tuning;
  double seconds = 1;
  bool no_compare = false;
  bool json = false, list = false, clear = false;
  CompilerFlags flags;
};

Json extents(Size size) { return {size.x, size.y, size.z}; }

std::string_view name_of(TuneTrial::Outcome outcome) {
  switch (outcome) {
    case TuneTrial::Outcome::measured: return "measured";
    case TuneTrial::Outcome::different_results: return "different results";
    case TuneTrial::Outcome::failed: break;
  }
  return "failed";
}

Json describe(const TuneResult& result) {
  Json json{{"kernel", result.kernel},
            {"device", result.device},
            {result.grid_counts_threads ? "threads" : "threadgroups", extents(result.grid)},
            {"best", extents(result.best())},
            {"from_cache", result.from_cache},
            {"results_vary", result.results_vary},
            {"trials", Json::array()}};
  for (const TuneTrial& trial : result.trials) {
    Json entry{{"group", extents(trial.group)}, {"outcome", name_of(trial.outcome)}};
    if (trial.outcome != TuneTrial::Outcome::failed) {
      entry["seconds"] = trial.seconds;
      entry["spread"] = trial.spread;
      entry["runs"] = trial.runs;
    }
    if (!trial.note.empty()) entry["note"] = trial.note;
    json["trials"].push_back(std::move(entry));
  }
  return json;
}

void print_list(std::vector<CachedTuning> tunings, bool as_json) {
  const auto others = std::erase_if(tunings, [](const CachedTuning& tuning) { return !tuning.of_this_build; });
  if (as_json) {
    Json json = Json::array();
    for (const CachedTuning& tuning : tunings) {
      json.push_back(describe(tuning.result));
      json.back()["arguments"] = tuning.arguments;
      json.back()["when"] = tuning.when;
    }
    write_result(to_text(json));
  } else if (!tunings.empty()) {
    std::vector<std::array<std::string, 6>> rows = {{"when", "kernel", "best", "grid", "arguments", "device"}};
    for (const auto& [result, arguments, when, of_this_build] : tunings) {
      rows.push_back({when, printable_name(result.kernel),
                      fmt::format("{} ({} tried)", to_string(result.best()), result.trials.size()),
                      fmt::format("{} {}", to_string(result.grid), result.grid_counts_threads ? "threads" : "groups"),
                      arguments, result.device});
    }
    std::array<std::size_t, 6> widths{};
    for (const auto& row : rows) {
      for (std::size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) print_result("{:<{}}{}", row[i], widths[i], i == 5 ? "\n" : "  ");
    }
  }
  if (others > 0) {
    print_message("{} more of other builds of Metalloid, which this one does not use (--clear forgets all)\n", others);
  }
}

// What CLI11 cannot check because --list and --clear stand alone.
void check(const TuneSettings& settings) {
  if (settings.file.empty()) throw UsageError("FILE is missing");
  if (settings.launch.group == "auto") throw UsageError("--group is the size that you use now, not auto");
}

std::vector<Size> parse_groups(const std::vector<std::string>& groups) {
  std::vector<Size> sizes;
  for (const std::string& group : groups) {
    const std::vector<std::uint64_t> size = parse_extents(group, "--groups");
    sizes.push_back({static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
                     static_cast<std::uint32_t>(size[2])});
  }
  return sizes;
}

int tune_kernel(const TuneSettings& settings) {
  if (settings.clear) {
    const std::size_t count = clear_cached_tunings();
    print_message("{} tuning{} forgotten\n", count, count == 1 ? "" : "s");
    return exit_fine;
  }
  if (settings.list) {
    std::vector<CachedTuning> tunings = cached_tunings();
    if (!settings.launch.kernel.empty()) {
      std::erase_if(tunings, [&](const CachedTuning& each) { return each.result.kernel != settings.launch.kernel; });
    }
    print_list(std::move(tunings), settings.json);
    return exit_fine;
  }
  check(settings);
  TuneOptions options = settings.tuning;
  options.candidates = parse_groups(settings.groups);
  options.budget = std::chrono::duration<double>(settings.seconds);
  options.compare = !settings.no_compare;
  const Library library = load_source(Device::named(settings.device), settings.file, settings.flags);
  LaunchOptions launch = settings.launch;
  launch.on_device = true;
  const TuneResult result = CommandLineLaunch(library, launch).tune(options);
  if (settings.json) {
    write_result(to_text(describe(result)));
  } else {
    print_result("{}", result.table());
  }
  return exit_fine;
}

}  // namespace

void add_tune(CLI::App& app, int& exit_code) {
  auto settings = std::make_shared<TuneSettings>();
  CLI::App* command = app.add_subcommand("tune", "Finds a kernel's best threadgroup size by measurement");
  command->add_option("FILE", settings->file, "Metal source");
  add_launch_options(*command, settings->launch);
  command->get_option("--group")->description(
      "The size that you use now: it stays unless another is faster by the margin, and its results are those that "
      "are right");
  command
      ->add_option("--groups", settings->groups,
                   "Sizes to try, as 32,64,8x8; the first is the default if --group is missing (default: powers of "
                   "two from 32 on, and blocks for two and three dimensions)")
      ->delimiter(',');
  constexpr double largest = 1e9;
  add_real_number(*command, "--margin", "How much faster a size must be than the default (0.1)", largest,
                  [settings](double margin) { settings->tuning.margin = margin; });
  add_real_number(*command, "--seconds", "How long to measure, about (1)", largest,
                  [settings](double seconds) { settings->seconds = seconds; });
  add_whole_number(*command, "--rounds", "Measure each size so many times instead", 1, 1'000'000'000,
                   [settings](std::uint64_t rounds) { settings->tuning.rounds = static_cast<std::uint32_t>(rounds); });
  add_real_number(*command, "--tolerance",
                  "How far results may differ (1e-4 for float, 1e-2 for half, 5e-2 for bfloat)", largest,
                  [settings](double tolerance) { settings->tuning.tolerance = tolerance; });
  command->add_flag("--no-compare", settings->no_compare, "Choose by time alone, whatever the results");
  command->add_flag("--force", settings->tuning.force, "Measure even if the answer is cached");
  command->add_flag("--json", settings->json, "Print JSON for programs instead of text");
  command->add_flag("--list", settings->list, "List what is cached, for --kernel if it is given, and stop");
  command->add_flag("--clear", settings->clear, "Forget what is cached, and stop");
  command->add_option("--device", settings->device, "One of `metalloid devices` (default: cpu)");
  add_compiler_flags(*command, settings->flags);
  command->footer(
      spec_help() +
      "\n"
      "Give --threads where every thread has its element, --threadgroups where every threadgroup has its row.\n"
      "A size that fails, or whose results differ from the default's, is shown and never chosen. The answer is\n"
      "cached for this device, kernel, shapes and integer values; `metalloid run --group auto` uses it.\n\n"
      "Examples:\n"
      "  metalloid tune saxpy.metal --kernel saxpy --threads 100000 \\\n"
      "      --arg y=f32[100000]=ones --arg x=f32[100000]=arange --arg a=0.5\n"
      "  metalloid tune softmax.metal --kernel softmax --threadgroups 64 --group 256 \\\n"
      "      --arg f32[64,1024]=normal --arg f32[64,1024]=zeros --arg 1024\n"
      "  metalloid tune matmul.metal --kernel matmul --threads 512,512 --groups 16x16,8x8,32x8 ...");
  command->callback([settings, &exit_code] { exit_code = tune_kernel(*settings); });
}

}  // namespace metalloid::tool
