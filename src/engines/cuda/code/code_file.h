// A compiled kernel as the caches keep it: facts for the host, and PTX or what a driver has made of that.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engines/cuda/kernel_abi.h"

namespace metalloid::engines::cuda {

struct CodeFile {
  KernelFacts facts;
  std::string code;
  bool is_assembled = false;  // it is a cubin, for one kind of GPU; else PTX
};

std::string write_code_file(const CodeFile& file);
// Throws internal for what is none.
CodeFile read_code_file(std::span<const char> bytes);

}  // namespace metalloid::engines::cuda
