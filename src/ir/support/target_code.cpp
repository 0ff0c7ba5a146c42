#include "ir/support/target_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/PassInfo.h>
#include <llvm/PassRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include "ir/support/diagnostics.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

// Leaves out one of what a code generator adds.
class Passes final : public llvm::legacy::PassManager {
 public:
  explicit Passes(llvm::StringRef without) : without_(without) {}
  void add(llvm::Pass* pass) override {
    const llvm::PassInfo* info = llvm::PassRegistry::getPassRegistry()->getPassInfo(pass->getPassID());
    if (info && !without_.empty() && info->getPassArgument() == without_) {
      delete pass;
    } else {
      PassManager::add(pass);
    }
  }

 private:
  llvm::StringRef without_;
};

}  // namespace

void set_target(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
}

std::string write_code(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind,
                       const std::string& what, llvm::StringRef without) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  Passes passes(without);
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) {
    throw Error(ErrorCode::internal, "this code generator cannot write that kind of file");
  }
  passes.run(module);
  throw_kept_diagnostics(module.getContext(), "cannot compile " + what);
  return {bytes.begin(), bytes.end()};
}

}  // namespace metalloid::ir
