#include "tune/measure.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tune/choice.h"

namespace metalloid::tuning {
namespace {

using Outcome = TuneTrial::Outcome;

// Once a size has finished, others get twenty times as long and at least a second. Where one has run into the limit
// and none has finished, the rest get a tenth: most likely the kernel never ends.
class TimeLimits {
 public:
  explicit TimeLimits(std::chrono::milliseconds whole) : whole_(whole) {}

  void finished(double seconds) { best_ = std::min(best_, seconds); }
  void timed_out() { one_timed_out_ = true; }

  std::chrono::milliseconds next() const {
    const bool any_finished = best_ < std::numeric_limits<double>::infinity();
    if (!any_finished) return one_timed_out_ ? whole_ / 10 : whole_;
    const std::chrono::milliseconds enough(static_cast<std::int64_t>(std::max(1.0, 20 * best_) * 1000));
    return whole_.count() == 0 ? enough : std::min(whole_, enough);
  }

 private:
  std::chrono::milliseconds whole_;
  double best_ = std::numeric_limits<double>::infinity();
  bool one_timed_out_ = false;
};

std::uint32_t rounds_for(const TuneOptions& options, double seconds_per_round) {
  if (options.rounds) return std::max(*options.rounds, 1U);
  const double rounds = options.budget.count() / std::max(seconds_per_round, 1e-9);
  return rounds < 1 ? 1 : static_cast<std::uint32_t>(std::clamp(rounds, 3.0, 100.0));
}

// Errors begin with the kernel's name ("kernel 'add': ..." or "kernel 'add' crashed"), which the table has above it.
std::string without_kernel(std::string message) {
  constexpr std::string_view begin = "kernel '";
  if (!message.starts_with(begin)) return message;
  const auto end = message.find('\'', begin.size());
  const auto rest = end == std::string::npos ? end : message.find_first_not_of(": ", end + 1);
  return rest == std::string::npos ? message : message.substr(rest);
}

}  // namespace

Measurements measure(Bench& bench, const Plan& plan) {
  const TuneOptions& options = *plan.options;
  Measurements result;
  result.trials.resize(plan.candidates.size());
  for (std::size_t i = 0; i < plan.candidates.size(); ++i) result.trials[i].group = plan.candidates[i];
  TimeLimits limits(plan.limit);
  bool any_failed = false;

  // The time of a run; nothing if it failed, which the trial then says.
  auto run = [&](std::size_t i) -> std::optional<double> {
    try {
      const double seconds = bench.run(i, limits.next());
      limits.finished(seconds);
      return seconds;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kernel_interrupted) throw;
      if (error.code() == ErrorCode::kernel_timed_out) limits.timed_out();
      if (!any_failed) result.first_error = error.code();
      any_failed = true;
      result.trials[i].outcome = Outcome::failed;
      result.trials[i].note = without_kernel(error.what());
      return std::nullopt;
    }
  };

  std::vector<std::size_t> order(plan.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(plan.reference),
              order.begin() + static_cast<std::ptrdiff_t>(plan.reference) + 1);
  bool has_reference = false;
  double seconds_per_round = 0;
  for (const std::size_t i : order) {
    auto seconds = run(i);
    if (seconds && options.compare && !has_reference) {
      has_reference = true;
      result.reference = i;
      bench.keep_results();
      seconds = run(i);
      result.results_vary = seconds && bench.difference();
    } else if (seconds && options.compare && !result.results_vary) {
      if (auto difference = bench.difference()) {
        result.trials[i].outcome = Outcome::different_results;
        result.trials[i].note = *difference;
      }
    }
    seconds_per_round += seconds.value_or(0);
  }

  // Wrong sizes are measured too: how fast they would be is worth knowing.
  std::vector<std::size_t> running;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    if (result.trials[i].outcome != Outcome::failed) running.push_back(i);
  }
  std::vector<std::vector<double>> times(result.trials.size());
  const std::uint32_t rounds = running.empty() ? 0 : rounds_for(options, seconds_per_round);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < running.size(); ++k) {
      const std::size_t i = running[(k + round) % running.size()];
      if (result.trials[i].outcome == Outcome::failed) continue;
      if (auto seconds = run(i)) times[i].push_back(*seconds);
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (result.trials[i].outcome != Outcome::failed) summarise(result.trials[i], std::move(times[i]));
  }
  return result;
}

}  // namespace metalloid::tuning
