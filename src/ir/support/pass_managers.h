// The four analysis managers that LLVM's passes want, wired together.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Passes/PassBuilder.h>

namespace llvm {
class TargetMachine;
}

namespace metalloid::ir {

class PassManagers {
 public:
  // With a target, cost models know the machine.
  explicit PassManagers(llvm::TargetMachine* target = nullptr, const llvm::PipelineTuningOptions& tuning = {});
  // The same without a pass of LLVM's pipelines, which is named by its class.
  PassManagers(llvm::TargetMachine& target, llvm::StringRef without);

  llvm::PassInstrumentationCallbacks callbacks;
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;

 private:
  void wire();
};

}  // namespace metalloid::ir
