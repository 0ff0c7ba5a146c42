// Attention: causal with grouped queries, and a sliding window in half.
#include <algorithm>
#include <cmath>

#include "example.h"

namespace demo {
namespace {

using metalloid::Buffer;
using metalloid::ElementType;

template <typename T>
Example attention(const char* kernel, ElementType kind, bool causal, std::int64_t window, double tolerance) {
  const std::uint32_t batch = 2, heads = 4, key_heads = 2, length = 100, size = 64;
  const float scale = 0.125f;
  Buffer q = random_buffer<T>(batch * heads * length * size, 41), out(q.size());
  Buffer k = random_buffer<T>(batch * key_heads * length * size, 42);
  Buffer v = random_buffer<T>(batch * key_heads * length * size, 43);
  Example example{
      .file = "attention.metal", .kernel = kernel, .output = out, .output_kind = kind, .tolerance = tolerance};
  auto row_of = [&](const Buffer& buffer, std::size_t row) { return buffer.as<T>().subspan(row * size, size); };
  for (std::uint32_t row = 0; row < batch * heads * length; ++row) {
    const std::int64_t place = row % length;
    const std::size_t key_row = std::size_t{row} / length / (heads / key_heads) * length;  // also right over batches
    const std::int64_t first = window > 0 ? std::max<std::int64_t>(place - window + 1, 0) : 0;
    std::int64_t last = causal ? place + 1 : length;
    if (window > 0) last = std::min(last, place + window);
    double sum = 0;
    std::vector<double> elements(size);
    for (std::int64_t key = first; key < last; ++key) {
      double score = 0;
      for (std::uint32_t d = 0; d < size; ++d) {
        score += static_cast<double>(row_of(q, row)[d]) *
                 static_cast<double>(row_of(k, key_row + static_cast<std::size_t>(key))[d]);
      }
      const double weight = std::exp(score * static_cast<double>(scale));  // double does not overflow here
      sum += weight;
      for (std::uint32_t d = 0; d < size; ++d) {
        elements[d] += weight * static_cast<double>(row_of(v, key_row + static_cast<std::size_t>(key))[d]);
      }
    }
    for (double element : elements) example.expected.push_back(element / sum);
  }
  example.dispatch.buffer(0, out).buffer(1, q).buffer(2, k).buffer(3, v);
  example.dispatch.value(4, heads).value(5, key_heads).value(6, length).value(7, length).value(8, size);
  example.dispatch.value(9, std::uint32_t{causal}).value(10, static_cast<std::uint32_t>(window)).value(11, scale);
  example.dispatch.threadgroups({batch * heads * length}, {64});
  return example;
}

}  // namespace

std::vector<Example> attention_examples() {
  std::vector<Example> examples;
  examples.push_back(attention<float>("attention_float", ElementType::float32, true, 0, 2e-6));
  examples.push_back(attention<_Float16>("attention_half", ElementType::float16, false, 20, 2e-3));
  return examples;
}

}  // namespace demo
