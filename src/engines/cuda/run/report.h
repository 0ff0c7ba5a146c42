// What kernels leave of an access outside of their memory, as an error.
#pragma once

#include "engines/cuda/run/gpu.h"
#include "engines/engine.h"

namespace metalloid::engines::cuda {

// Of a launch that is done.
struct ReportedLaunch {
  const KernelInfo& kernel;
  Size threads_per_grid, threads_per_threadgroup;
};

// What the launch reported at that address, if it did; null if not. It can report again then.
std::exception_ptr take_report(Address address, const ReportedLaunch& launch);

}  // namespace metalloid::engines::cuda
