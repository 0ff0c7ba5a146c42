// A tuning's result for people.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "metalloid/tune.h"

namespace metalloid {
namespace {

using Outcome = TuneTrial::Outcome;

constexpr double much_spread = 0.25;

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace

std::string to_string(Size size) {
  if (size.z != 1) return fmt::format("{}x{}x{}", size.x, size.y, size.z);
  if (size.y != 1) return fmt::format("{}x{}", size.x, size.y);
  return fmt::format("{}", size.x);
}

std::string TuneResult::summary() const {
  const TuneTrial& best_trial = trials[chosen];
  const std::string name = to_string(best_trial.group);
  std::string reason = "is the fastest";
  const bool others = std::ranges::any_of(
      trials, [&](const TuneTrial& trial) { return &trial != &best_trial && trial.outcome == Outcome::measured; });
  if (!others) {
    const bool differ =
        std::ranges::any_of(trials, [](const TuneTrial& trial) { return trial.outcome == Outcome::different_results; });
    reason = fmt::format("is the only size{}", trials.size() == 1 ? "" : differ ? " with its results" : " that works");
  } else if (standard == chosen) {
    const bool faster = std::ranges::any_of(trials, [&](const TuneTrial& trial) {
      return trial.outcome == Outcome::measured && trial.seconds < best_trial.seconds;
    });
    reason = faster ? fmt::format("stays: no other size is {:.3g} % faster", margin * 100) : "is the fastest";
  }
  return fmt::format("{}: {} threads per threadgroup {}{}", kernel, name, reason, from_cache ? " (cached)" : "");
}

std::string TuneResult::table() const {
  struct Row {
    std::string group, time, spread, relative, note;
  };
  const double best_seconds = trials[chosen].seconds;
  std::vector<Row> rows = {{"group", "time", "spread", "of chosen", "note"}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const TuneTrial& trial = trials[i];
    Row row{to_string(trial.group), "-", "", "", trial.note};
    if (trial.outcome != Outcome::failed) {
      row.time = time_text(trial.seconds);
      if (trial.runs != 1) row.spread = fmt::format("{:.1f} %", trial.spread * 100);
      row.relative = fmt::format("{:.2f}", best_seconds > 0 ? trial.seconds / best_seconds : 1.0);
    }
    if (trial.outcome == Outcome::different_results) row.note = "different results: " + trial.note;
    if (standard == i) row.note = row.note.empty() ? "default" : "default; " + row.note;
    if (chosen == i) row.note = row.note.empty() ? "chosen" : "chosen, " + row.note;
    rows.push_back(std::move(row));
  }
  auto width = [&](std::string Row::* column) {
    std::size_t widest = 0;
    for (const Row& row : rows) widest = std::max(widest, (row.*column).size());
    return widest;
  };
  const std::size_t group = width(&Row::group), time = width(&Row::time), spread = width(&Row::spread),
                    relative = width(&Row::relative);
  std::string text =
      fmt::format("{}, {} {}; {}\n", kernel, to_string(grid), grid_counts_threads ? "threads" : "threadgroups", device);
  for (const Row& row : rows) {
    std::string line = fmt::format("{:>{}}  {:>{}}  {:>{}}  {:>{}}  {}", row.group, group, row.time, time, row.spread,
                                   spread, row.relative, relative, row.note);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (results_vary) text += "The results vary from run to run, so those of different sizes were not compared.\n";
  text += summary() + "\n";
  const bool noisy = std::ranges::any_of(
      trials, [](const TuneTrial& trial) { return trial.outcome == Outcome::measured && trial.spread > much_spread; });
  if (noisy) text += "Times vary much from run to run: the machine is busy, and the choice may be chance.\n";
  return text;
}

}  // namespace metalloid
