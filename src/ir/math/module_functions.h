// Functions that math adds to a module.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ir/math/expressions.h"
#include "ir/math/lower_math.h"

namespace metalloid::ir::math {

class ModuleFunctions {
 public:
  // Appends code that computes a result from parameters.
  using Body = std::function<llvm::Value*(const Emitter&, llvm::ArrayRef<llvm::Value*> parameters)>;

  ModuleFunctions(llvm::Module& module, const MathHardware& hardware, RareBody rare_body)
      : module_(module), hardware_(hardware), rare_body_(std::move(rare_body)) {}

  // The function of that name for such operands, made when first asked for, with the attributes of `user`'s function.
  llvm::Function& get(const std::string& name, llvm::ArrayRef<llvm::Value*> operands, const llvm::Instruction& user,
                      const Body& body);
  // One for rare arguments (rare_arguments.h): of its operands and of the usual results, which it returns for all but
  // the rare ones. `name` is reduce_large_angles, large_remainders or unusual_powers.
  llvm::Function& get_rare(const std::string& name, llvm::ArrayRef<llvm::Type*> operands,
                           llvm::ArrayRef<llvm::Type*> results, const llvm::Instruction& user);

 private:
  llvm::Function& make(const std::string& name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> parameters,
                       const llvm::Instruction& user);

  llvm::Module& module_;
  MathHardware hardware_;
  RareBody rare_body_;
  std::map<std::pair<std::string, llvm::Type*>, llvm::Function*> functions_;
};

}  // namespace metalloid::ir::math
