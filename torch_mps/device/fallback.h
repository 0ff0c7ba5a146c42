// Operators that have no Metal kernel.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace metalloid::torch_device {

struct FallbackCount {
  std::string operator_name;  // "aten::sum.dim_IntList"
  std::uint64_t calls;
};

// What ran on the CPU since the process began or reset_fallbacks was called.
std::vector<FallbackCount> fallbacks();
void reset_fallbacks();

// The operators that PyTorch itself has for MPS: those that fall back without its warning.
void set_operators_of_pytorch(std::unordered_set<std::string> names);

}  // namespace metalloid::torch_device
