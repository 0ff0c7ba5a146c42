#include "engines/cuda/code/machine.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "ir/support/pass_managers.h"
#include "ir/support/target_code.h"
#include "metalloid/error.h"
#include "support/fork_safe_mutex.h"

namespace metalloid::engines::cuda {
namespace {

constexpr const char* triple = "nvptx64-nvidia-cuda";

support::ForkSafeMutex& target_mutex = *new support::ForkSafeMutex;

const llvm::Target& code_generator() {
  static constinit const llvm::Target* found = nullptr;
  const std::lock_guard lock(target_mutex);
  if (found) return *found;
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  std::string error;
  found = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!found) throw Error(ErrorCode::internal, "no code generator for NVIDIA's GPUs: " + error);
  return *found;
}

// Line tables and no more: whole debug information makes PTX for debugging, which is not optimised.
void keep_lines_only(llvm::Module& module) {
  llvm::stripNonLineTableDebugInfo(module);
  llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units) return;
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  llvm::DenseMap<llvm::DICompileUnit*, llvm::DICompileUnit*> made;
  for (unsigned i = 0; i < units->getNumOperands(); ++i) {
    auto* unit = llvm::cast<llvm::DICompileUnit>(units->getOperand(i));
    made[unit] = llvm::DICompileUnit::getDistinct(
        module.getContext(), unit->getSourceLanguage(), unit->getFile(), unit->getProducer(), /*IsOptimized=*/true,
        /*Flags=*/"", 0, /*SplitDebugFilename=*/"", llvm::DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr,
        nullptr, nullptr, 0, false, false, llvm::DICompileUnit::DebugNameTableKind::None, false, "", "");
    units->setOperand(i, made[unit]);
  }
  for (llvm::DISubprogram* function : finder.subprograms()) {
    if (llvm::DICompileUnit* unit = made.lookup(function->getUnit())) function->replaceUnit(unit);
  }
}

}  // namespace

void prepare_code_generation() { code_generator(); }

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  llvm::TargetOptions options;
  // MSL contracts a*b+c only where the front end says so (llvm.fmuladd).
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(code_generator().createTargetMachine(
      llvm::Triple(triple), target.has_warpgroup_products() ? target.processor + "a" : target.processor,
      fmt::format("+ptx{}", target.ptx), options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) throw Error(ErrorCode::internal, "cannot create a code generator for " + target.processor);
  return machine;
}

void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  ir::set_target(module, machine);
  keep_lines_only(module);
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  // That pass makes one read of each element of a vector, and of what is known of the memory it keeps nothing.
  ir::PassManagers managers(machine, /*without=*/"VectorCombinePass");
  managers.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, managers.modules);
}

}  // namespace metalloid::engines::cuda
