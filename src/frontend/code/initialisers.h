// Which function computes which constant: Clang leaves a list of functions to run at start-up, and what each of them is
// for is known only while it is made.
#pragma once

#include <utility>
#include <vector>

#include <llvm/IR/Module.h>

namespace metalloid::frontend {

// Watches this thread's code generation for as long as it lives.
class InitialiserRecorder {
 public:
  InitialiserRecorder();
  ~InitialiserRecorder();
  InitialiserRecorder(const InitialiserRecorder&) = delete;
  InitialiserRecorder& operator=(const InitialiserRecorder&) = delete;

  void add(llvm::GlobalVariable& variable, llvm::Function& initialiser);

  // Rewrites llvm.global_ctors as ir/passes/initialisers.h reads it: one entry per constant that is computed.
  void write_list(llvm::Module& module) const;

 private:
  InitialiserRecorder* outer_;
  std::vector<std::pair<llvm::GlobalVariable*, llvm::Function*>> initialisers_;
};

}  // namespace metalloid::frontend
