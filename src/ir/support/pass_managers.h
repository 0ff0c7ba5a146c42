// The four analysis managers that LLVM's passes want, wired together.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

namespace llvm {
class TargetMachine;
}

namespace metalloid::ir {

class PassManagers {
 public:
  // With a target, cost models know the machine.
  explicit PassManagers(llvm::TargetMachine* target = nullptr, const llvm::PipelineTuningOptions& tuning = {});

  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace metalloid::ir
