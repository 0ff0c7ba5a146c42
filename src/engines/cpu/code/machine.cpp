#include "engines/cpu/code/machine.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/support/diagnostics.h"
#include "ir/support/pass_managers.h"
#include "metalloid/error.h"
#include "support/made_once.h"

namespace metalloid::engines::cpu {
namespace {

// CodeGenPrepare starts over at a function's first block after each change that makes a block or an overflow check,
// unless it counts the function as huge. Kernels are one function after inlining, and products of wide integers are
// full of overflow checks, so every function counts as huge here.
void change_only_what_is_new() {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find("cgpp-huge-func");
  if (found != options.end()) static_cast<llvm::cl::opt<unsigned>*>(found->second)->setValue(0);
}

const llvm::Target& target() {
  static const llvm::Target* found = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(llvm::sys::getProcessTriple()), error);
    if (!target) throw Error(ErrorCode::internal, "no code generator for this machine: " + error);
    change_only_what_is_new();
    return target;
  }();
  return *found;
}

}  // namespace

const std::string& cpu_name() {
  static constinit support::MadeOnce<std::string> name;
  return name.get([] { return llvm::sys::getHostCPUName().str(); });
}

const std::string& cpu_features() {
  static constinit support::MadeOnce<std::string> features;
  return features.get([] {
    llvm::SubtargetFeatures list;
    std::vector<std::pair<std::string, bool>> sorted;
    for (const auto& [name, present] : llvm::sys::getHostCPUFeatures()) sorted.emplace_back(name.str(), present);
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [name, present] : sorted) list.AddFeature(name, present);
    return list.getString();
  });
}

std::unique_ptr<llvm::TargetMachine> make_machine() { return make_machine(cpu_name(), cpu_features()); }

std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu, const std::string& features) {
  llvm::TargetOptions options;
  // MSL contracts a*b+c only where the front end says so (llvm.fmuladd).
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // What can never be reached, the kernel says, must not lead into whatever code comes next.
  options.TrapUnreachable = true;
  options.NoTrapAfterNoreturn = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      target().createTargetMachine(llvm::Triple(llvm::sys::getProcessTriple()), cpu, features, options,
                                   llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                   /*JIT=*/true));
  if (!machine) throw Error(ErrorCode::internal, "cannot create a code generator for this machine");
  return machine;
}

void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // Large frames touch each page in turn, so that an overflow always meets the guard page.
    function.addFnAttr("probe-stack", "inline-asm");
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  ir::PassManagers managers(&machine);
  managers.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, managers.modules);
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, CodeForm form, const std::string& what) {
  const auto kind = form == CodeForm::text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) {
    throw Error(ErrorCode::internal, "this machine's code generator cannot write that kind of file");
  }
  passes.run(module);
  ir::throw_kept_diagnostics(module.getContext(), "cannot compile " + what);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace metalloid::engines::cpu
