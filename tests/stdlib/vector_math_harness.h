// Machine code of one instruction of math, as engines get it from lower_vector_math and lower_math, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engines/cpu_shared/code/loader.h"

namespace metalloid::stdlib_test {

inline constexpr std::size_t vector_width = 32;

// Processors whose code this machine can run, by LLVM's names; "" is the machine itself.
std::vector<std::string> runnable_processors();

// Without, LLVM calls functions for them.
bool has_conversions_of_half(const std::string& processor);

// What an instruction computes at once: 32 numbers, as the SIMD engine does, or one, as an engine that runs each thread
// on its own, with nothing but the module's own code.
enum class MathForm : std::uint8_t { vector, scalar };

class MathFunction {
 public:
  // `instruction` computes T %r from %x, %y, %z (and i32 %k), T being "float" or "half", or vectors of 32 of those (and
  // i32 %n, the first of %k). Throws std::runtime_error if its code calls functions of the C library.
  MathFunction(const std::string& instruction, const std::string& type, MathForm form, const std::string& processor);

  // Each of a multiple of vector_width elements.
  void run(const void* x, const void* y, const void* z, void* results, std::size_t count) const;

 private:
  std::unique_ptr<engines::cpu::LoadedCode> code_;
  void (*entry_)(const void*, const void*, const void*, void*, std::size_t);
};

}  // namespace metalloid::stdlib_test
