#include "frontend/code/initialisers.h"

#include <clang/AST/Decl.h>

#include "ir/passes/initialisers.h"

namespace metalloid::frontend {
namespace {
thread_local InitialiserRecorder* current = nullptr;
}

InitialiserRecorder::InitialiserRecorder() : outer_(current) { current = this; }
InitialiserRecorder::~InitialiserRecorder() { current = outer_; }

void InitialiserRecorder::add(llvm::GlobalVariable& variable, llvm::Function& initialiser) {
  initialisers_.emplace_back(&variable, &initialiser);
}

void InitialiserRecorder::write_list(llvm::Module& module) const {
  std::vector<ir::Initialiser> list;
  for (const auto& [variable, function] : initialisers_) list.push_back({variable, function});
  ir::set_initialisers(module, list);
}

}  // namespace metalloid::frontend

// Clang's code generator makes an initialiser here (wrapped like Sema's functions, sema_wraps.cpp). Its function is the
// first that appears in the module.
#define METALLOID_INITIALISER \
  "_ZN5clang7CodeGen13CodeGenModule28EmitCXXGlobalVarDeclInitFuncEPKNS_7VarDeclEPN4llvm14GlobalVariableEb"

void real_emit_initialiser(void* self, const clang::VarDecl* declaration, llvm::GlobalVariable* variable,
                           bool perform) __asm__("__real_" METALLOID_INITIALISER);
void wrap_emit_initialiser(void* self, const clang::VarDecl* declaration, llvm::GlobalVariable* variable,
                           bool perform) __asm__("__wrap_" METALLOID_INITIALISER);

void wrap_emit_initialiser(void* self, const clang::VarDecl* declaration, llvm::GlobalVariable* variable,
                           bool perform) {
  llvm::Module& module = *variable->getParent();
  llvm::Function* last = module.empty() ? nullptr : &module.getFunctionList().back();
  real_emit_initialiser(self, declaration, variable, perform);
  auto next = last ? std::next(last->getIterator()) : module.begin();
  using metalloid::frontend::current;
  if (current && next != module.end()) current->add(*variable, *next);
}
