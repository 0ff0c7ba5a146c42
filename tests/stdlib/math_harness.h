// Runs one expression of MSL over many inputs and measures the errors of its results in units in the last place.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "metalloid/metalloid.h"

namespace metalloid::stdlib_test {

// Numbers that a kernel computes with: float, or half and bfloat by their bits.
enum class Format { float32, float16, bfloat16 };

std::string name_of(Format format);  // as in MSL
std::uint32_t size_of(Format format);

double to_double(std::uint32_t bits, Format format);
// Nearest, ties to even; overflows to infinity.
std::uint32_t round_to(double value, Format format);

// Distance of `got` from the exact value `expected` in units of expected's last place. Zero if both are NaN, if both
// are the same infinity, or if expected rounds to got; infinite if only one is NaN.
double error_in_ulp(double got, double expected, Format format);

// Devices whose engines make code of their own. The trial engine's run that of the SIMD and the reference engine on
// copies of buffers, which is nothing to a function of the library; tests/kernels runs on these, too.
std::vector<Device> devices_with_own_code();

// Evaluates `expression` of x, y and z (MSL, with metal's names visible) for each i.
struct Inputs {
  std::vector<std::uint32_t> x, y, z;  // bits
};
std::vector<std::uint32_t> evaluate(const Device& device, MathMode mode, Format format, const std::string& expression,
                                    const Inputs& inputs);

// `count` numbers of every magnitude, the special ones first; different for different seeds.
std::vector<std::uint32_t> sample_all(Format format, std::size_t count, std::uint32_t seed);
std::vector<std::uint32_t> sample_range(Format format, double low, double high, std::size_t count, std::uint32_t seed);
// Every half or bfloat.
std::vector<std::uint32_t> every_16_bits();

}  // namespace metalloid::stdlib_test
