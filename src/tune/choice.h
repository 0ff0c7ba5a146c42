// What to try and what to choose: the parts of tuning that touch no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "metalloid/tune.h"

namespace metalloid::tuning {

// `limit` is the kernel's own.
std::vector<Size> default_candidates(Size grid, bool grid_counts_threads, std::uint32_t limit);

// The index of the trial to use: the fastest, but the default if no other beats it by the margin. Nothing if none was
// measured.
std::optional<std::size_t> choose(std::span<const TuneTrial> trials, std::optional<std::size_t> standard,
                                  double margin);

// Sets a trial's median and spread.
void summarise(TuneTrial& trial, std::vector<double> seconds);

}  // namespace metalloid::tuning
