#include "tune/choice.h"

#include <algorithm>
#include <bit>

namespace metalloid::tuning {
namespace {

// Blocks that Metal programmers use, beside rows of threads.
constexpr Size blocks_2d[] = {{8, 8}, {16, 8}, {16, 16}, {32, 8}, {32, 16}, {32, 32}};
constexpr Size blocks_3d[] = {{8, 8, 1}, {16, 16, 1}, {32, 8, 1}, {4, 4, 4}, {8, 8, 4}, {8, 8, 8}, {8, 8, 16}};

// Cut edges of at most one threadgroup: anything longer runs the same threads.
std::uint32_t longest(std::uint32_t extent) { return extent > 1024 ? 1024 : std::bit_ceil(std::max(extent, 1U)); }

}  // namespace

std::vector<Size> default_candidates(Size grid, bool grid_counts_threads, std::uint32_t limit) {
  std::vector<Size> candidates;
  const std::uint32_t longest_row = grid_counts_threads ? std::max(longest(grid.x), simdgroup_width) : limit;
  for (std::uint32_t x = simdgroup_width; x <= std::min(limit, longest_row); x *= 2) candidates.push_back({x});
  // A limit such as 96 is worth a try of its own.
  if (limit <= longest_row && !std::has_single_bit(limit)) candidates.push_back({limit});
  if (candidates.empty()) candidates.push_back({limit});
  if (grid_counts_threads && (grid.y > 1 || grid.z > 1)) {
    const auto blocks = grid.z > 1 ? std::span<const Size>(blocks_3d) : std::span<const Size>(blocks_2d);
    for (const Size& block : blocks) {
      const bool fits = block.x <= longest(grid.x) && block.y <= longest(grid.y) && block.z <= longest(grid.z);
      if (fits && block.volume() <= limit) candidates.push_back(block);
    }
  }
  return candidates;
}

std::optional<std::size_t> choose(std::span<const TuneTrial> trials, std::optional<std::size_t> standard,
                                  double margin) {
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].outcome != TuneTrial::Outcome::measured) continue;
    if (!fastest || trials[i].seconds < trials[*fastest].seconds) fastest = i;
  }
  if (!fastest || !standard || trials[*standard].outcome != TuneTrial::Outcome::measured) return fastest;
  return trials[*standard].seconds <= trials[*fastest].seconds * (1 + margin) ? standard : fastest;
}

void summarise(TuneTrial& trial, std::vector<double> seconds) {
  trial.runs = static_cast<std::uint32_t>(seconds.size());
  if (seconds.empty()) return;
  std::ranges::sort(seconds);
  // Between neighbours where the quantile falls between them.
  auto quantile = [&](double part) {
    const double place = part * static_cast<double>(seconds.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, seconds.size() - 1);
    return seconds[below] + (seconds[above] - seconds[below]) * (place - static_cast<double>(below));
  };
  trial.seconds = quantile(0.5);
  trial.spread = trial.seconds > 0 ? (quantile(0.75) - quantile(0.25)) / 2 / trial.seconds : 0;
}

}  // namespace metalloid::tuning
