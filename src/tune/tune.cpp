// tune(): candidates -> measurements -> choice.
#include "metalloid/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/dispatch/timed.h"
#include "runtime/states.h"
#include "tune/arguments.h"
#include "tune/cache.h"
#include "tune/choice.h"
#include "tune/measure.h"

namespace metalloid {
namespace {

constexpr Size no_size{0, 0, 0};

// A kernel on copies of its arguments. Dispatches are planned once per size; the time is the engine's alone.
class KernelBench : public tuning::Bench {
 public:
  KernelBench(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options,
              std::span<const Size> candidates)
      : kernel_(kernel), arguments_(kernel, dispatch, options) {
    for (const Size& candidate : candidates) {
      Prepared& prepared = prepared_.emplace_back();
      prepared.dispatch = arguments_.dispatch();
      if (dispatch.grid_counts_threads()) {
        prepared.dispatch.threads(dispatch.grid(), candidate);
      } else {
        prepared.dispatch.threadgroups(dispatch.grid(), candidate);
      }
      for (const auto& [index, bytes] : options.threadgroup_memory_per_thread) {
        prepared.dispatch.threadgroup_memory(index, bytes * candidate.volume());
      }
    }
  }

  double run(std::size_t candidate, std::chrono::milliseconds limit) override {
    Prepared& prepared = prepared_[candidate];
    if (!prepared.plan) {
      prepared.plan = runtime::plan_dispatch(kernel_, prepared.dispatch);
    }
    prepared.plan->timeout = limit;
    arguments_.restore();
    if (const auto taken = runtime::timed_by_hardware(kernel_, *prepared.plan, 1)) return taken->count();
    const auto start = std::chrono::steady_clock::now();
    runtime::execute(kernel_, *prepared.plan);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void keep_results() override { arguments_.keep_results(); }
  std::optional<std::string> difference() override { return arguments_.difference(); }

 private:
  struct Prepared {
    Dispatch dispatch;
    std::optional<engines::DispatchPlan> plan;  // points into the dispatch
  };

  const Kernel& kernel_;
  tuning::TuneArguments arguments_;
  std::vector<Prepared> prepared_;
};

// The sizes to try, which of them is the default, and whether its results are known to be right.
struct Candidates {
  std::vector<Size> sizes;
  std::optional<std::size_t> standard;
  bool standard_is_right = false;
};

Candidates candidates_for(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  Candidates result;
  for (const Size& size : options.candidates) {
    if (std::ranges::find(result.sizes, size) == result.sizes.end()) result.sizes.push_back(size);
  }
  const bool listed = !result.sizes.empty();
  if (!listed) result.sizes = default_group_sizes(kernel, dispatch.grid(), dispatch.grid_counts_threads());
  if (dispatch.group() != no_size) {
    const auto place = std::ranges::find(result.sizes, dispatch.group());
    result.standard = static_cast<std::size_t>(place - result.sizes.begin());
    if (place == result.sizes.end()) result.sizes.push_back(dispatch.group());
    result.standard_is_right = true;
  } else if (listed) {
    result.standard = 0;
    result.standard_is_right = true;
  } else if (dispatch.grid_counts_threads()) {
    for (std::size_t i = 0; i < result.sizes.size(); ++i) {
      const Size& size = result.sizes[i];
      const bool is_row = size.y == 1 && size.z == 1;
      if (is_row && (!result.standard || size.x > result.sizes[*result.standard].x)) result.standard = i;
    }
  }
  return result;
}

// "32, 64: the reason; 128: another", or the reason that all have.
std::string reasons(std::span<const TuneTrial> trials) {
  std::vector<std::pair<std::string, std::string>> by_note;  // note, sizes
  for (const TuneTrial& trial : trials) {
    const auto same = std::ranges::find(by_note, trial.note, &std::pair<std::string, std::string>::first);
    if (same == by_note.end()) {
      by_note.emplace_back(trial.note, to_string(trial.group));
    } else {
      same->second += ", " + to_string(trial.group);
    }
  }
  if (by_note.size() == 1) return by_note[0].first;
  std::string text;
  for (const auto& [note, sizes] : by_note) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", sizes, note);
  return text;
}

void check_options(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  auto reject = [&](const std::string& reason) {
    throw Error(ErrorCode::invalid_argument, fmt::format("kernel '{}': {}", kernel.name(), reason));
  };
  if (!dispatch.has_grid()) reject("the dispatch has no grid; call threads() or threadgroups()");
  if (!(options.margin >= 0)) reject("the margin of tuning must be 0 or more");
  if (options.tolerance && !(*options.tolerance >= 0)) reject("the tolerance of tuning must be 0 or more");
  if (!(options.budget.count() >= 0)) reject("the time for tuning must be 0 or more seconds");
}

}  // namespace

std::vector<Size> default_group_sizes(const Kernel& kernel, Size grid, bool grid_counts_threads) {
  if (const auto& required = kernel.info().required_threads_per_threadgroup; required[0] != 0) {
    return {{required[0], required[1], required[2]}};
  }
  return tuning::default_candidates(grid, grid_counts_threads, kernel.max_total_threads_per_threadgroup());
}

std::optional<TuneResult> last_tuning(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  return tuning::find_newest(tuning::key_of(kernel, dispatch, options));
}

TuneResult tune(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  check_options(kernel, dispatch, options);
  const Candidates candidates = candidates_for(kernel, dispatch, options);
  const support::Hash key = tuning::key_of(kernel, dispatch, options);
  const support::Hash options_key = tuning::options_key(dispatch, options, candidates.sizes);
  if (!options.force) {
    if (auto known = tuning::find(key, options_key)) return *known;
  }

  KernelBench bench(kernel, dispatch, options, candidates.sizes);
  tuning::Measurements measured =
      tuning::measure(bench, {.candidates = candidates.sizes,
                              .reference = candidates.standard_is_right ? *candidates.standard : 0,
                              .limit = dispatch.timeout(),
                              .options = &options});
  TuneResult result{.kernel = kernel.name(),
                    .device = fmt::format("{}, {}", kernel.engine(), kernel.state().compiled->runner.description()),
                    .grid = dispatch.grid(),
                    .grid_counts_threads = dispatch.grid_counts_threads(),
                    .trials = std::move(measured.trials),
                    .standard = candidates.standard,
                    .margin = options.margin,
                    .compared = options.compare,
                    .results_vary = measured.results_vary};
  const bool any_ran = std::ranges::any_of(
      result.trials, [](const TuneTrial& trial) { return trial.outcome != TuneTrial::Outcome::failed; });
  if (!any_ran) {
    throw Error(measured.first_error,
                fmt::format("kernel '{}' ran with no threadgroup size: {}", kernel.name(), reasons(result.trials)));
  }
  std::vector<std::string> different;
  for (const TuneTrial& trial : result.trials) {
    if (trial.outcome == TuneTrial::Outcome::different_results) different.push_back(to_string(trial.group));
  }
  const bool reference_is_right = candidates.standard_is_right && measured.reference == *candidates.standard;
  if (!different.empty() && !reference_is_right) {
    const TuneTrial& example =
        *std::ranges::find(result.trials, TuneTrial::Outcome::different_results, &TuneTrial::outcome);
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("kernel '{}': its results depend on the threadgroup size ({} differ from those of {}; with "
                    "{}, {}). Give the size that it was written for, the threadgroup size of the dispatch (--group, "
                    "group_size): only sizes with its results are chosen then",
                    kernel.name(), fmt::join(different, ", "), to_string(result.trials[measured.reference].group),
                    to_string(example.group), example.note));
  }
  result.chosen = *tuning::choose(result.trials, result.standard, options.margin);
  tuning::remember(key, options_key, result, tuning::describe_arguments(kernel, dispatch, options));
  return result;
}

}  // namespace metalloid
