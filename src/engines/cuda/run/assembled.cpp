#include "engines/cuda/run/assembled.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace metalloid::engines::cuda {
namespace {

constexpr int ptx_input = 1;

// Empty if the driver does not take it so.
std::string assembled_at(std::string& ptx, std::uintptr_t level) {
  std::array<int, 1> options = {static_cast<int>(ModuleOption::optimisation)};
  std::array<void*, 1> values = {reinterpret_cast<void*>(level)};
  Handle link = nullptr;
  if (driver().link_create(options.size(), options.data(), values.data(), &link) != success) return {};
  void* image = nullptr;  // the link's
  std::size_t bytes = 0;
  std::string code;
  // With the zero at its end.
  if (driver().link_add(link, ptx_input, ptx.data(), ptx.size() + 1, "kernel", 0, nullptr, nullptr) == success &&
      driver().link_complete(link, &image, &bytes) == success) {
    code.assign(static_cast<const char*>(image), bytes);
  }
  driver().link_destroy(link);
  return code;
}

}  // namespace

void warm_assembler() {
  std::string nothing = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  assembled_at(nothing, optimisation_levels.front());
}

std::optional<CodeFile> assembled(CodeFile file, Gpu& gpu) {
  const auto entered = gpu.enter();
  const OutsideOfCapture outside;
  for (const std::uintptr_t level : optimisation_levels) {
    std::string code = assembled_at(file.code, level);
    if (!code.empty()) return CodeFile{.facts = file.facts, .code = std::move(code), .is_assembled = true};
  }
  return std::nullopt;
}

}  // namespace metalloid::engines::cuda
