// What a kernel's code does, counted without running it: what a measurement is compared with.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "metalloid/library.h"

namespace metalloid {

struct Work {
  struct Use {
    bool reads = false, writes = false;
  };
  // Floating-point operations of one thread, a fused multiply-add being two and a library function that stays one
  // being one. Of branches both ways count, of loops all turns. Nothing where a loop's turns are not a constant or
  // functions stay calls.
  std::optional<double> flops_per_thread;
  std::vector<Use> arguments;  // of memory, beside KernelInfo::arguments
};

// Throws as Library::kernel does.
Work work_of(const Library& library, std::string_view kernel, const FunctionConstants& constants = {});

}  // namespace metalloid
