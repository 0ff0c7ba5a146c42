#include "comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <span>

#include "random.h"

namespace metalloid::comparison {
namespace {

struct Pair {
  std::int32_t x;
  float y;
  std::int16_t z;
  std::uint8_t w;
};

constexpr std::uint32_t in = 1, in_float = 2, in_bytes = 3, in_pairs = 4, loose = 13, values = 14, in_halves = 15;
constexpr std::uint32_t constant_pairs = 21;
// To run a kernel takes next to nothing beside making it.
constexpr unsigned shapes_of_a_kind = 4;
constexpr unsigned index_bound = 4096 + 64;          // of what is read
constexpr unsigned most_inputs = 16, distance = 48;  // bytes from one begin to the next

struct Mixed {
  std::int8_t a;
  std::int16_t b[3], c[4];
  std::int64_t d;
};

struct Written {
  std::uint32_t index;
  const char* name;
  std::size_t element, count;
};
constexpr std::array<Written, 15> written = {{{0, "out", 4, most_threads},
                                              {5, "own_rows", 4, most_threads * 8},
                                              {6, "own_columns", 4, most_threads * 8},
                                              {7, "own_bytes", 1, most_threads * 4},
                                              {8, "own_vectors", 16, most_threads * 2},
                                              {9, "own_packed", 12, most_threads},
                                              {10, "own_halves", 2, most_threads * 5},
                                              {11, "atomics", 4, 64},
                                              {12, "tickets", 4, 32},
                                              {loose, "loose", 4, most_threads},
                                              {16, "own_shorts", 2, most_threads * 8},
                                              {17, "own_mixed", sizeof(Mixed), most_threads},
                                              {18, "own_atomics", 4, most_threads},
                                              {19, "float_atomics", 4, 16},
                                              {20, "wide_atomics", 8, 8}}};

// The same for all kernels: made once.
struct Inputs {
  static constexpr std::size_t behind = most_inputs * distance;
  Buffer integers{index_bound * 4 + behind}, floats{index_bound * 16 + behind}, bytes{index_bound + behind},
      halves{index_bound * 2 + behind}, pairs{index_bound * sizeof(Pair) + behind};

  Inputs() {
    Random random(7);
    for (std::int32_t& value : integers.as<std::int32_t>()) {
      value = random.one_in(3) ? static_cast<std::int32_t>(random.next())
                               : static_cast<std::int32_t>(random.below(64)) - 16;
    }
    for (float& value : floats.as<float>()) value = static_cast<float>(static_cast<int>(random.below(200)) - 100);
    // Halves of whole numbers from 0 to 3.
    for (std::uint16_t& value : halves.as<std::uint16_t>()) {
      value = std::array<std::uint16_t, 4>{0, 0x3c00, 0x4000, 0x4200}[random.below(4)];
    }
    for (std::uint8_t& value : bytes.as<std::uint8_t>()) value = static_cast<std::uint8_t>(random.next());
    for (Pair& pair : pairs.as<Pair>()) {
      pair = {static_cast<std::int32_t>(random.below(1000)), static_cast<float>(random.below(50)),
              static_cast<std::int16_t>(random.next()), static_cast<std::uint8_t>(random.next())};
    }
  }
};

const Inputs& inputs() {
  static const Inputs made;
  return made;
}

struct Results {
  std::string error;
  std::vector<Buffer> buffers;
};

Results run_with(const Kernel& kernel, const Shape& shape, const Task& task) {
  Results results;
  Dispatch dispatch;
  for (const Written& place : written) {
    results.buffers.emplace_back(place.element * place.count);
    dispatch.buffer(place.index, results.buffers.back());
  }
  const std::size_t begin = shape.inputs * std::size_t{distance};
  dispatch.buffer(in, inputs().integers, begin).buffer(in_float, inputs().floats, begin);
  dispatch.buffer(in_bytes, inputs().bytes, begin).buffer(in_halves, inputs().halves, begin);
  dispatch.buffer(in_pairs, inputs().pairs, begin).buffer(constant_pairs, inputs().pairs, begin);
  Random random(task.seed + shape.inputs);
  std::array<std::int32_t, 4> constants{};
  for (std::int32_t& value : constants) {
    value = random.one_in(4) ? static_cast<std::int32_t>(random.next()) : static_cast<std::int32_t>(random.below(12));
  }
  dispatch.value(values, constants);
  // Two words of each thread's own.
  dispatch.threadgroup_memory(0, shape.group.volume() * 8);
  dispatch.threads(shape.grid, shape.group).timeout(task.timeout);
  try {
    run(kernel, dispatch);
  } catch (const Error& error) {
    results.error = error.what();
  }
  return results;
}

std::string describe(const Shape& shape) {
  return fmt::format("threads {}x{}x{}, group {}x{}x{}, inputs {}", shape.grid.x, shape.grid.y, shape.grid.z,
                     shape.group.x, shape.group.y, shape.group.z, shape.inputs);
}

// Numbers that the standard lets differ: by how many steps of a float.
bool is_close(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) == std::isnan(b);
  if (a == b) return true;
  const auto place = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return std::int64_t{bits < 0 ? std::int32_t(0x80000000u - static_cast<std::uint32_t>(bits)) : bits};
  };
  return std::abs(place(a) - place(b)) <= 16 || std::fabs(a - b) < 1e-6f;
}

std::optional<std::string> first_difference(const Results& a, const Results& b) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto x = a.buffers[i].as<std::uint8_t>(), y = b.buffers[i].as<std::uint8_t>();
    if (std::memcmp(x.data(), y.data(), x.size()) == 0) continue;
    if (written[i].index == loose) {
      const auto p = a.buffers[i].as<float>(), q = b.buffers[i].as<float>();
      for (std::size_t k = 0; k < p.size(); ++k) {
        if (!is_close(p[k], q[k])) return fmt::format("loose[{}]: {} and {}", k, p[k], q[k]);
      }
      continue;
    }
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
    const std::size_t element = at / written[i].element;
    if (written[i].element == 4) {
      return fmt::format("{}[{}]: {} and {}", written[i].name, element, a.buffers[i].as<std::int32_t>()[element],
                         b.buffers[i].as<std::int32_t>()[element]);
    }
    return fmt::format("{}[{}], byte {}: {} and {}", written[i].name, element, at, x[at], y[at]);
  }
  return std::nullopt;
}

std::optional<Difference> compare_kernels(const Task& task, const Kernel& fast, const Kernel& right) {
  using Kind = Difference::Kind;
  if (fast.engine() != fast.device().engine()) {
    std::string text = "runs on the engine " + fast.engine();
    for (const Remark& remark : fast.remarks()) text += fmt::format("; line {}: {}", remark.source_line, remark.reason);
    return Difference{Kind::fallback, text};
  }
  for (const Shape& shape : task.shapes) {
    const Results a = run_with(fast, shape, task), b = run_with(right, shape, task);
    if (!b.error.empty()) return Difference{Kind::reference_error, describe(shape) + ": reference engine: " + b.error};
    if (!a.error.empty()) return Difference{Kind::error, describe(shape) + ": " + a.error};
    if (auto text = first_difference(a, b)) return Difference{Kind::result, describe(shape) + ": " + *text};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Shape> shapes_for(Dimensions dimensions, std::uint64_t seed) {
  using Shapes = std::vector<Shape>;
  static const std::array<std::array<Shapes, 3>, 3> all = {
      {{{Shapes{{{32}, {32}}, {{64}, {64}}, {{512}, {256}}, {{1024}, {1024}}, {{288}, {96}}},
         Shapes{{{1}, {1}}, {{31}, {31}}, {{200}, {7}}, {{300}, {300}}, {{48}, {16}}, {{96}, {48}}},
         Shapes{{{100}, {40}}, {{257}, {96}}, {{130}, {64}}, {{65}, {33}}, {{33}, {64}}}}},
       {{Shapes{{{64, 3}, {32, 2}}, {{32, 4}, {32, 4}}, {{32, 32}, {32, 32}}, {{64, 16}, {64, 8}}, {{96, 4}, {96, 2}}},
         Shapes{
             {{16, 2}, {16, 2}}, {{32, 20}, {16, 16}}, {{48, 8}, {16, 8}}, {{64, 12}, {16, 3}}, {{32, 32}, {16, 32}}},
         Shapes{{{8, 8}, {8, 8}},
                {{33, 7}, {16, 4}},
                {{40, 5}, {7, 5}},
                {{100, 2}, {100, 1}},
                {{65, 3}, {64, 2}},
                {{1, 40}, {1, 40}},
                {{3, 50}, {3, 25}},
                {{48, 4}, {48, 4}},
                {{8, 10}, {4, 8}},
                {{40, 9}, {16, 6}}}}},
       {{Shapes{{{32, 2, 2}, {32, 2, 2}}, {{64, 3, 2}, {32, 1, 2}}, {{64, 1, 4}, {64, 1, 2}}, {{32, 8, 4}, {32, 4, 4}}},
         Shapes{{{16, 4, 3}, {16, 2, 3}}, {{32, 4, 4}, {16, 4, 2}}, {{16, 3, 4}, {16, 3, 2}}, {{4, 4, 4}, {4, 4, 4}}},
         Shapes{{{5, 4, 3}, {5, 4, 3}},
                {{9, 6, 4}, {4, 3, 2}},
                {{33, 3, 2}, {32, 1, 2}},
                {{7, 3, 11}, {7, 3, 11}},
                {{64, 1, 3}, {64, 1, 2}},
                {{2, 2, 40}, {2, 2, 9}},
                {{20, 5, 3}, {16, 2, 2}}}}}}};
  Random random(seed ^ 0x5a5a);
  Shapes result;
  for (const Shapes& kind : all[static_cast<std::size_t>(dimensions) - 1]) {
    for (unsigned k = 0; k < shapes_of_a_kind; ++k) {
      result.push_back(kind[random.below(static_cast<unsigned>(kind.size()))]);
      result.back().inputs = random.below(most_inputs);
    }
  }
  return result;
}

namespace {

FunctionConstants constants_of(std::uint64_t seed) {
  Random random(seed ^ 0xc0c0);
  FunctionConstants constants;
  constants.set(0u, FunctionConstants::Value(std::int64_t{random.below(20)} - 4));
  constants.set(1u, FunctionConstants::Value(random.one_in(2)));
  constants.set(2u, FunctionConstants::Value(std::int64_t{random.below(9)}));
  return constants;
}

}  // namespace

std::vector<std::optional<Difference>> compare(const std::vector<Task>& tasks) {
  std::string source = library_head();
  for (std::size_t i = 0; i < tasks.size(); ++i) source += source_of(tasks[i].kernel, "k" + std::to_string(i));
  CompileOptions options;
  options.math_mode = tasks.front().kernel.has_safe_mathematics ? MathMode::safe : MathMode::fast;
  std::vector<std::optional<Difference>> results(tasks.size());
  std::optional<Library> fast, right;
  try {
    fast = Device::named(tasks.front().device).make_library(source, options);
    right = Device::named("reference").make_library(source, options);
  } catch (const Error& error) {
    if (tasks.size() == 1) return {Difference{Difference::Kind::invalid_source, error.what()}};
    for (std::size_t i = 0; i < tasks.size(); ++i) results[i] = compare({tasks[i]}).front();
    return results;
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string name = "k" + std::to_string(i);
    std::optional<Kernel> kernel;
    try {
      kernel = right->kernel(name, constants_of(tasks[i].seed));
    } catch (const Error& error) {
      results[i] = Difference{Difference::Kind::reference_error, error.what()};
      continue;
    }
    try {
      results[i] = compare_kernels(tasks[i], fast->kernel(name, constants_of(tasks[i].seed)), *kernel);
    } catch (const Error& error) {
      results[i] = Difference{Difference::Kind::error, error.what()};
    }
  }
  return results;
}

}  // namespace metalloid::comparison
