// Atomics in threadgroup memory, and threadgroup memory whose length the host sets.
#include <random>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;

Example histogram() {
  const std::uint32_t length = 1'000'003;
  Buffer values(length), counts(256 * sizeof(std::uint32_t));
  std::mt19937_64 generator = reproducible(31);
  Example example{.file = "histogram.metal",
                  .kernel = "histogram",
                  .output = counts,
                  .output_kind = metalloid::ElementType::uint32,
                  .expected = std::vector<double>(256),
                  .tolerance = 0};
  for (std::uint8_t& value : values.as<std::uint8_t>()) {
    value = static_cast<std::uint8_t>((generator() % 256) * (generator() % 256) / 256);  // uneven on purpose
    example.expected[value] += 1;
  }
  example.dispatch.buffer(0, counts).buffer(1, values).value(2, length).threads({4096}, {256});
  return example;
}

Example segment_scan() {
  const std::uint32_t segments = 500, segment = 300;  // no power of two
  Buffer in = random_buffer<float>(segments * segment, 32, 0, 1), out(in.size());
  Example example{.file = "segment_scan.metal", .kernel = "segment_scan", .output = out, .tolerance = 2e-6};
  double sum = 0;
  for (std::size_t i = 0; i < std::size_t{segments} * segment; ++i) {
    sum = (i % segment == 0 ? 0 : sum) + in.as<float>()[i];
    example.expected.push_back(sum);
  }
  example.dispatch.buffer(0, out).buffer(1, in).threadgroup_memory(0, 2 * segment * sizeof(float));
  example.dispatch.threadgroups({segments}, {segment});
  return example;
}

}  // namespace

std::vector<Example> threadgroup_memory_examples() {
  std::vector<Example> examples;
  examples.push_back(histogram());
  examples.push_back(segment_scan());
  return examples;
}

}  // namespace demo
