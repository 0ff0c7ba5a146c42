#include "measurement.h"

#include <algorithm>
#include <cmath>

namespace metalloid::tool {
namespace {

constexpr double least_sample = 1e-3;  // seconds; what takes less is called several times for one sample
constexpr double is_short = 0.02;      // seconds

// By linear interpolation.
double quantile(const std::vector<double>& sorted, double part) {
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const double median = quantile(values, 0.5);
  return {median, median == 0 ? 0 : (quantile(values, 0.75) - quantile(values, 0.25)) / 2 / median};
}

Spread ratio_of(std::span<const double> over, std::span<const double> under) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < over.size(); ++i) ratios.push_back(over[i] / under[i]);
  return spread_of(std::move(ratios));
}

void measure_by_turns(std::span<Contender> contenders, const RoundOptions& options) {
  double per_round = 0;
  std::vector<bool> warms;
  for (Contender& each : contenders) {
    double taken = each.launch->time_calls(1).count();
    if (taken < 1) taken = each.launch->time_calls(1).count();
    each.calls = static_cast<std::uint32_t>(std::clamp(least_sample / std::max(taken, 1e-9), 1.0, 1e4));
    warms.push_back(taken < is_short);
    per_round += taken * (each.calls + (warms.back() ? 1 : 0));
  }
  const double fitting = std::clamp(options.seconds / std::max(per_round, 1e-9), 5.0, 1000.0);
  const std::uint32_t rounds = options.rounds.value_or(static_cast<std::uint32_t>(fitting));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t place = 0; place < contenders.size(); ++place) {
      const std::size_t i = (place + round) % contenders.size();
      Contender& each = contenders[i];
      if (warms[i]) each.launch->time_calls(1);
      each.seconds.push_back(each.launch->time_calls(each.calls).count());
    }
  }
}

Rates rates_of(const Amounts& amounts, double seconds, double machine_flops, const Bandwidth& bandwidth) {
  Rates rates;
  rates.bytes_per_second = amounts.bytes / seconds;
  const double memory_seconds = amounts.bytes / bandwidth.best();
  double least_seconds = memory_seconds;
  if (amounts.flops) {
    rates.flops_per_second = *amounts.flops / seconds;
    if (amounts.bytes > 0) rates.intensity = *amounts.flops / amounts.bytes;
    least_seconds = std::max(memory_seconds, *amounts.flops / machine_flops);
    rates.is_bound_by_memory = memory_seconds >= least_seconds;
  }
  rates.roofline_fraction = least_seconds / seconds;
  return rates;
}

}  // namespace metalloid::tool
