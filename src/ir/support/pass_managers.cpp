#include "ir/support/pass_managers.h"

#include "ir/support/memory_alias.h"

namespace metalloid::ir {

PassManagers::PassManagers(llvm::TargetMachine* target, const llvm::PipelineTuningOptions& tuning)
    : builder(target, tuning) {
  add_memory_alias(builder, functions);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metalloid::ir
