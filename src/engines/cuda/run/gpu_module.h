// A kernel's code on the GPU, as the driver has loaded it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engines/cuda/code/code_file.h"
#include "engines/cuda/run/gpu.h"
#include "engines/engine.h"

namespace metalloid::engines::cuda {

class GpuModule {
 public:
  // Throws internal, with the driver's words, if it does not take the code.
  GpuModule(const CodeFile& file, const std::string& kernel, Gpu& gpu);
  ~GpuModule();
  GpuModule(const GpuModule&) = delete;
  GpuModule& operator=(const GpuModule&) = delete;

  Handle function() const { return function_; }
  std::uint32_t most_threads() const { return most_threads_; }  // of a block, as its registers allow
  std::uint64_t stack_bytes() const { return stack_bytes_; }    // of a kernel with functions that call themselves

 private:
  Gpu& gpu_;
  Handle module_ = nullptr, function_ = nullptr;
  std::uint32_t most_threads_ = 0;
  std::uint64_t stack_bytes_ = 0;
};

// Of what is kept, or what the driver makes of the PTX, which is kept then.
std::unique_ptr<GpuModule> load_module(const CodeFile& file, const std::string& kernel, Gpu& gpu,
                                       const AssemblyStore* store);

}  // namespace metalloid::engines::cuda
