#include "engines/cuda/run/gpu_module.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <optional>

#include "engines/cuda/run/assembled.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

// Of a stack: what calls take besides.
constexpr std::uint64_t more_than_estimated = 1 << 10;

int attribute(FunctionAttribute which, Handle function) {
  int value = 0;
  driver().check(driver().function_attribute(&value, static_cast<int>(which), function), "a kernel");
  return value;
}

}  // namespace

GpuModule::GpuModule(const CodeFile& file, const std::string& kernel, Gpu& gpu) : gpu_(gpu) {
  const auto entered = gpu.enter();
  const OutsideOfCapture outside;
  std::array<char, 8192> log{};
  const std::array<int, 3> options = {static_cast<int>(ModuleOption::error_log),
                                      static_cast<int>(ModuleOption::error_log_bytes),
                                      static_cast<int>(ModuleOption::optimisation)};
  const auto load = [&](std::uintptr_t level) {
    std::array<void*, 3> values = {log.data(), reinterpret_cast<void*>(log.size()), reinterpret_cast<void*>(level)};
    return driver().module_load(&module_, file.code.c_str(), options.size(), const_cast<int*>(options.data()),
                                values.data());
  };
  int result = invalid_ptx;
  for (const std::uintptr_t level : optimisation_levels) {
    if (result == invalid_ptx) result = load(level);
  }
  if (result != success) {
    throw Error(ErrorCode::internal, fmt::format("NVIDIA's driver does not take the code of kernel '{}': {}\n{}",
                                                 kernel, driver().describe(result), log.data()));
  }
  driver().check(driver().module_function(&function_, module_, std::string(kernel_name).c_str()), "a kernel");
  most_threads_ = static_cast<std::uint32_t>(attribute(FunctionAttribute::most_threads, function_));
  if (file.facts.threadgroup_bytes != 0) {
    const auto bytes = static_cast<int>(file.facts.threadgroup_bytes + max_threadgroup_memory_bytes);
    driver().check(
        driver().set_function_attribute(function_, static_cast<int>(FunctionAttribute::most_dynamic_bytes), bytes),
        "threadgroup memory");
  }
  if (file.facts.recurses == 0) return;
  const int own = attribute(FunctionAttribute::local_bytes, function_);
  stack_bytes_ = recursion_stack_bytes + static_cast<std::uint64_t>(own) + more_than_estimated;
}

GpuModule::~GpuModule() {
  try {
    const auto entered = gpu_.enter();
    driver().module_unload(module_);
  } catch (...) {  // with its context the module is gone, too
  }
}

std::unique_ptr<GpuModule> load_module(const CodeFile& file, const std::string& kernel, Gpu& gpu,
                                       const AssemblyStore* store) {
  const auto loaded = [&](const CodeFile& assembly) -> std::unique_ptr<GpuModule> {
    try {
      return std::make_unique<GpuModule>(assembly, kernel, gpu);
    } catch (const std::exception&) {
      return nullptr;
    }
  };
  const auto kept = [&]() -> std::unique_ptr<GpuModule> {
    const auto bytes = store->read();
    if (!bytes) return nullptr;
    try {
      return loaded(read_code_file(*bytes));
    } catch (const std::exception&) {  // it is made anew
      return nullptr;
    }
  };
  if (store) {
    if (auto module = kept()) return module;
    if (const auto assembly = assembled(file, gpu)) {
      if (auto module = loaded(*assembly)) {
        store->write(write_code_file(*assembly));
        return module;
      }
    }
  }
  return std::make_unique<GpuModule>(file, kernel, gpu);
}

}  // namespace metalloid::engines::cuda
