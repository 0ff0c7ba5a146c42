// The three kernels of a radix sort's pass, each alone: its input is what the one before should have computed.
#include <algorithm>
#include <numeric>
#include <random>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;

constexpr std::uint32_t digits = 16, tile = 256, length = 100'003, shift = 8;
constexpr std::uint32_t tiles = (length + tile - 1) / tile;

std::uint32_t digit_of(std::uint32_t key) { return key >> shift & (digits - 1); }

Buffer random_keys() {
  std::mt19937_64 generator = reproducible(51);
  Buffer keys(length * sizeof(std::uint32_t));
  for (std::uint32_t& key : keys.as<std::uint32_t>()) key = static_cast<std::uint32_t>(generator());
  return keys;
}

Buffer counts_of(const Buffer& keys) {
  Buffer counts(std::size_t{digits} * tiles * sizeof(std::uint32_t));
  std::ranges::fill(counts.as<std::uint32_t>(), 0);
  for (std::uint32_t i = 0; i < length; ++i) {
    ++counts.as<std::uint32_t>()[std::size_t{digit_of(keys.as<std::uint32_t>()[i])} * tiles + i / tile];
  }
  return counts;
}

Buffer starts_of(const Buffer& counts) {
  Buffer starts(counts.size());
  auto from = counts.as<std::uint32_t>();
  std::exclusive_scan(from.begin(), from.end(), starts.as<std::uint32_t>().begin(), 0u);
  return starts;
}

Example stage(const char* kernel, const Buffer& output) {
  return {.file = "radix_sort.metal",
          .kernel = kernel,
          .output = output,
          .output_kind = metalloid::ElementType::uint32,
          .tolerance = 0};
}

void expect(Example& example, const Buffer& values) {
  auto numbers = values.as<std::uint32_t>();
  example.expected.assign(numbers.begin(), numbers.end());
}

Example digit_counts() {
  Buffer keys = random_keys(), counts(std::size_t{digits} * tiles * sizeof(std::uint32_t));
  Example example = stage("histogram", counts);
  expect(example, counts_of(keys));
  example.dispatch.buffer(0, counts).buffer(1, keys).value(2, length).value(3, shift).threadgroups({tiles}, {tile});
  return example;
}

Example prefix_sum() {
  Buffer counts = counts_of(random_keys()), starts(counts.size());
  Example example = stage("prefix_sum", starts);
  expect(example, starts_of(counts));
  example.dispatch.buffer(0, starts).buffer(1, counts).value(2, digits * tiles).threadgroups({1}, {1024});
  return example;
}

// The values are the keys' places before the pass, and what is compared: they tell whether the pass is stable.
Example scatter() {
  Buffer keys = random_keys(), values(keys.size()), sorted_keys(keys.size()), sorted_values(keys.size());
  auto places = values.as<std::uint32_t>();
  std::iota(places.begin(), places.end(), 0u);
  Buffer order(values.size());
  std::ranges::copy(places, order.as<std::uint32_t>().begin());
  std::ranges::stable_sort(order.as<std::uint32_t>(), {},
                           [&](std::uint32_t i) { return digit_of(keys.as<std::uint32_t>()[i]); });
  Example example = stage("scatter", sorted_values);
  expect(example, order);
  example.dispatch.buffer(0, sorted_keys).buffer(1, sorted_values).buffer(2, keys).buffer(3, values);
  example.dispatch.buffer(4, starts_of(counts_of(keys))).value(5, length).value(6, shift).threadgroups({tiles}, {tile});
  return example;
}

}  // namespace

std::vector<Example> radix_sort_examples() {
  std::vector<Example> examples;
  examples.push_back(digit_counts());
  examples.push_back(prefix_sum());
  examples.push_back(scatter());
  return examples;
}

}  // namespace demo
