// Where a kernel's static threadgroup variables lie in its threadgroup memory: the same on every engine.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

struct ThreadgroupVariables {
  struct Place {
    llvm::GlobalVariable* variable;
    std::uint64_t offset;
  };
  std::vector<Place> places;  // of those that are used
  std::uint64_t size = 0;     // bytes
};

ThreadgroupVariables lay_out_threadgroup_variables(llvm::Module& module);

}  // namespace metalloid::ir
