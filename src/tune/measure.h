// The measuring loop: which size runs when, and what a failure or a different result means.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metalloid/tune.h"

namespace metalloid::tuning {

// What the loop drives: a kernel on its arguments, or a test's own times.
class Bench {
 public:
  virtual ~Bench() = default;
  // Runs a size from the original inputs and returns how long the run took, in seconds. Throws Error.
  virtual double run(std::size_t candidate, std::chrono::milliseconds limit) = 0;
  // Keeps the results of the last run as those that are right.
  virtual void keep_results() = 0;
  // How the results of the last run differ from those kept; nothing if they do not.
  virtual std::optional<std::string> difference() = 0;
};

struct Plan {
  std::span<const Size> candidates;
  std::size_t reference = 0;           // runs first; its results are right
  std::chrono::milliseconds limit{0};  // of one run; 0: none
  const TuneOptions* options = nullptr;
};

struct Measurements {
  std::vector<TuneTrial> trials;
  std::size_t reference = 0;  // the one that results were compared with
  bool results_vary = false;
  ErrorCode first_error = ErrorCode::internal;  // meaningful if all failed
};

// 1. Every candidate runs once, the reference first: this warms up, finds what fails and compares results. The
//    reference runs twice, so that a kernel whose results vary by themselves is known.
// 2. Rounds, in each of which every candidate that is left runs once, from another one on each time: whatever
//    disturbs the machine for a while disturbs all of them.
// 3. The median of each.
Measurements measure(Bench& bench, const Plan& plan);

}  // namespace metalloid::tuning
