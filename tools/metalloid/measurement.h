// `metalloid bench` without its options and its words: kernels that are measured by turns, and what comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch.h"
#include "machine_limits.h"

namespace metalloid::tool {

// A median, and half of the interquartile range as a part of it.
struct Spread {
  double median = 0, spread = 0;
};
Spread spread_of(std::vector<double> values);
// Of values that belong together one by one.
Spread ratio_of(std::span<const double> over, std::span<const double> under);

// One of those that are measured.
struct Contender {
  std::string label;
  CommandLineLaunch* launch = nullptr;
  std::uint32_t calls = 1;      // for one sample
  std::vector<double> seconds;  // of one call, by round
};

struct RoundOptions {
  double seconds = 1;  // for all rounds, about
  std::optional<std::uint32_t> rounds;
};

// 1. Each runs once or twice: code is loaded, memory touched, the time of a call known.
// 2. Rounds, in each of which each gives a sample, from another one on each time, so that whatever disturbs the machine
//    for a while disturbs all. Before a sample of what is short it runs once more: others have used the caches.
void measure_by_turns(std::span<Contender> contenders, const RoundOptions& options);

// What one dispatch moves and computes.
struct Amounts {
  double bytes = 0;
  std::optional<double> flops;
};

// A measurement against the machine's limits.
struct Rates {
  double bytes_per_second = 0;
  std::optional<double> flops_per_second;
  std::optional<double> intensity;  // flops per byte
  double roofline_fraction = 0;     // of what the machine could do at this intensity
  bool is_bound_by_memory = true;   // else by arithmetic
};
Rates rates_of(const Amounts& amounts, double seconds, double machine_flops, const Bandwidth& bandwidth);

}  // namespace metalloid::tool
