// Machine code of one vector instruction, as engines get it from lower_vector_math, for tests.
#pragma once

#include <cstddef>
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

class VectorFunction {
 public:
  // `instruction` computes <32 x T> %r from %x, %y, %z (and <32 x i32> %k, and i32 %n, the first of %k), T being
  // "float" or "half". Throws std::runtime_error if its code calls functions of the C library.
  VectorFunction(const std::string& instruction, const std::string& type, const std::string& processor);

  // Each of a multiple of vector_width elements.
  void run(const void* x, const void* y, const void* z, void* results, std::size_t count) const;

 private:
  std::unique_ptr<engines::cpu::LoadedCode> code_;
  void (*entry_)(const void*, const void*, const void*, void*, std::size_t);
};

}  // namespace metalloid::stdlib_test
