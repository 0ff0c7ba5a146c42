// Runs loaded kernels of CPU engines: threadgroups spread over the cores, arguments in place, crashes and stops turned
// into errors.
#pragma once

#include <memory>
#include <span>

#include "engines/checked_executable.h"
#include "engines/cpu_shared/run/worker.h"

namespace metalloid::engines::cpu {

// What an engine brings.
struct Runtime {
  void* (*symbol)(std::string_view name);  // entry points that its code may call; usually ends with runtime_symbol
  WorkerPool& workers;
};

// `runtime` must outlive it. Throws internal for code that is not what lower_arguments and embed_facts make.
std::unique_ptr<CheckedExecutable> load_executable(std::span<const char> object, const KernelInfo& info,
                                                   const Runtime& runtime);

}  // namespace metalloid::engines::cpu
