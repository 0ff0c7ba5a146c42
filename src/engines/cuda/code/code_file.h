// A compiled kernel as the caches keep it: facts for the host, and PTX.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engines/cuda/kernel_abi.h"

namespace metalloid::engines::cuda {

struct CodeFile {
  KernelFacts facts;
  std::string ptx;
};

std::string write_code_file(const KernelFacts& facts, std::string_view ptx);
// Throws internal for what is none.
CodeFile read_code_file(std::span<const char> bytes);

}  // namespace metalloid::engines::cuda
