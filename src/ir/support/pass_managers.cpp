#include "ir/support/pass_managers.h"

#include "ir/support/memory_alias.h"

namespace metalloid::ir {

PassManagers::PassManagers(llvm::TargetMachine* target, const llvm::PipelineTuningOptions& tuning)
    : builder(target, tuning) {
  wire();
}

PassManagers::PassManagers(llvm::TargetMachine& target, llvm::StringRef without)
    : builder(&target, llvm::PipelineTuningOptions(), std::nullopt, &callbacks) {
  callbacks.registerShouldRunOptionalPassCallback(
      [without](llvm::StringRef pass, const llvm::Any&) { return pass != without; });
  wire();
}

void PassManagers::wire() {
  add_memory_alias(builder, functions);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metalloid::ir
