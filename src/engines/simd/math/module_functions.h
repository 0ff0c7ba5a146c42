// Functions that vector math adds to a module.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "engines/simd/math/lanes.h"

namespace metalloid::engines::simd {

class ModuleFunctions {
 public:
  // Appends code that computes a result from parameters.
  using Body = std::function<llvm::Value*(const Emitter&, llvm::ArrayRef<llvm::Value*> parameters)>;

  ModuleFunctions(llvm::Module& module, const MathHardware& hardware) : module_(module), hardware_(hardware) {}

  // The function of that name for such operands, made when first asked for, with the attributes of `user`'s function.
  llvm::Function& get(const std::string& name, llvm::ArrayRef<llvm::Value*> operands, const llvm::Instruction& user,
                      const Body& body);
  // One that gives its vectors, operands and then results, to a function of rare_lanes.h in memory.
  llvm::Function& get_rare(const std::string& name, llvm::ArrayRef<llvm::Type*> operands,
                           llvm::ArrayRef<llvm::Type*> results, const llvm::Instruction& user);

 private:
  llvm::Function& make(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters,
                       const llvm::Instruction& user);

  llvm::Module& module_;
  MathHardware hardware_;
  std::map<std::pair<std::string, llvm::Type*>, llvm::Function*> functions_;
};

}  // namespace metalloid::engines::simd
