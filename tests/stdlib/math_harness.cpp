#include "math_harness.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <span>

namespace metalloid::stdlib_test {
namespace {

struct Layout {
  int mantissa_bits;  // without the hidden one
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

Layout layout_of(Format format) {
  switch (format) {
    case Format::float32: return {23, 8};
    case Format::float16: return {10, 5};
    case Format::bfloat16: return {7, 8};
  }
  return {};
}

double unit_in_last_place(double value, Format format) {
  const Layout layout = layout_of(format);
  const int smallest = 1 - layout.bias();
  const int exponent = value == 0 ? smallest : std::max(std::ilogb(value), smallest);
  return std::ldexp(1.0, exponent - layout.mantissa_bits);
}

}  // namespace

std::string name_of(Format format) {
  switch (format) {
    case Format::float32: return "float";
    case Format::float16: return "half";
    case Format::bfloat16: return "bfloat";
  }
  return {};
}

std::uint32_t size_of(Format format) { return format == Format::float32 ? 4 : 2; }

double to_double(std::uint32_t bits, Format format) {
  const Layout layout = layout_of(format);
  const int width = 1 + layout.exponent_bits + layout.mantissa_bits;
  const bool negative = (bits >> (width - 1)) & 1;
  const int exponent = static_cast<int>((bits >> layout.mantissa_bits) & ((1u << layout.exponent_bits) - 1));
  const std::uint32_t mantissa = bits & ((1u << layout.mantissa_bits) - 1);
  double value;
  if (exponent == (1 << layout.exponent_bits) - 1) {
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<double>(mantissa), 1 - layout.bias() - layout.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<double>(mantissa | (1u << layout.mantissa_bits)),
                       exponent - layout.bias() - layout.mantissa_bits);
  }
  return negative ? -value : value;
}

std::uint32_t round_to(double value, Format format) {
  const Layout layout = layout_of(format);
  const int width = 1 + layout.exponent_bits + layout.mantissa_bits;
  const std::uint32_t sign = std::signbit(value) ? 1u << (width - 1) : 0;
  const std::uint32_t infinity = ((1u << layout.exponent_bits) - 1) << layout.mantissa_bits;
  if (std::isnan(value)) return sign | infinity | (1u << (layout.mantissa_bits - 1));
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  const double unit = unit_in_last_place(magnitude, format);
  const double steps = std::nearbyint(magnitude / unit);  // exact: unit is a power of two
  // Rounding up into the next binade carries into the exponent by itself.
  const int exponent = magnitude == 0 ? 1 - layout.bias() : std::max(std::ilogb(magnitude), 1 - layout.bias());
  const std::uint32_t hidden = 1u << layout.mantissa_bits;
  const double bits = steps < hidden ? steps : static_cast<double>((exponent + layout.bias() - 1)) * hidden + steps;
  return sign | (bits >= infinity ? infinity : static_cast<std::uint32_t>(bits));
}

double error_in_ulp(double got, double expected, Format format) {
  if (std::isnan(got) || std::isnan(expected)) {
    return std::isnan(got) && std::isnan(expected) ? 0 : std::numeric_limits<double>::infinity();
  }
  const double rounded = to_double(round_to(expected, format), format);
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(expected)) {
    // An overflow that is one step early or late is measured as if the range went on.
    const double edge = std::ldexp(1.0, layout_of(format).bias() + 1);
    const double from = std::isinf(got) ? std::copysign(edge, got) : got;
    const double to = std::isinf(expected) ? std::numeric_limits<double>::infinity() : expected;
    return std::fabs(from - to) / unit_in_last_place(edge / 2, format);
  }
  return std::fabs(got - expected) / unit_in_last_place(expected, format);
}

std::vector<Device> devices_with_own_code() {
  std::vector<Device> devices = Device::all();
  std::erase_if(devices, [](const Device& device) { return device.name().starts_with("trial"); });
  return devices;
}

std::vector<std::uint32_t> evaluate(const Device& device, MathMode mode, Format format, const std::string& expression,
                                    const Inputs& inputs) {
  const std::string type = name_of(format);
  const std::string source = fmt::format(
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void evaluate(device const {0}* xs, device const {0}* ys, device const {0}* zs, device {0}* results,\n"
      "                     uint i [[thread_position_in_grid]]) {{\n"
      "  {0} x = xs[i], y = ys[i], z = zs[i];\n  results[i] = {0}({1});\n}}\n",
      type, expression);
  CompileOptions options;
  options.math_mode = mode;
  const Kernel kernel = device.make_library(source, options).kernel("evaluate");

  const std::size_t count = inputs.x.size();
  const auto buffer_of = [&](const std::vector<std::uint32_t>& bits) {
    Buffer buffer(count * 4);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (format == Format::float32) {
        buffer.as<std::uint32_t>()[i] = bits[i];
      } else {
        buffer.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(bits[i]);
      }
    }
    return buffer;
  };
  Buffer results(count * 4);
  run(kernel, Dispatch()
                  .buffer(0, buffer_of(inputs.x))
                  .buffer(1, buffer_of(inputs.y))
                  .buffer(2, buffer_of(inputs.z))
                  .buffer(3, results)
                  .threads({static_cast<std::uint32_t>(count)}, {256}));
  std::vector<std::uint32_t> bits(count);
  for (std::size_t i = 0; i < count; ++i) {
    bits[i] = format == Format::float32 ? results.as<std::uint32_t>()[i] : results.as<std::uint16_t>()[i];
  }
  return bits;
}

std::vector<std::uint32_t> sample_all(Format format, std::size_t count, std::uint32_t seed) {
  std::vector<std::uint32_t> bits;
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {0.0,    -0.0, 1.0,   -1.0,  0.5,   -0.5,     2.0,       -2.0,         1.5,   -1.5,  3.0,
                             -3.0,   4.0,  10.0,  0.1,   -0.1,  infinity, -infinity, std::nan(""), 1e30,  -1e30, 1e-30,
                             -1e-30, 88.0, -88.0, 127.0, 128.0, -126.0,   -149.0,    65504.0,      1e-40, -1e-40};
  for (const double value : specials) bits.push_back(round_to(value, format));
  std::mt19937 random(seed);
  while (bits.size() < count) bits.push_back(format == Format::float32 ? random() : random() & 0xffffu);
  bits.resize(count);
  // Not every NaN counts, one kind is enough.
  for (std::uint32_t& value : bits) {
    if (std::isnan(to_double(value, format))) value = round_to(std::nan(""), format);
  }
  return bits;
}

std::vector<std::uint32_t> sample_range(Format format, double low, double high, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<std::uint32_t> bits;
  while (bits.size() < count) bits.push_back(round_to(uniform(random), format));
  return bits;
}

std::vector<std::uint32_t> every_16_bits() {
  std::vector<std::uint32_t> bits(65536);
  for (std::uint32_t i = 0; i < bits.size(); ++i) bits[i] = i;
  return bits;
}

}  // namespace metalloid::stdlib_test
