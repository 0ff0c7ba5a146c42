#include "ir/passes/normalise_attributes.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>

#include <string_view>

#include "ir/operations.h"
#include "ir/passes/copy_bools.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

void normalise_definition(llvm::Function& function) {
  for (auto kind : {llvm::Attribute::OptimizeNone, llvm::Attribute::MustProgress, llvm::Attribute::WillReturn,
                    llvm::Attribute::UWTable, llvm::Attribute::StackProtect, llvm::Attribute::StackProtectStrong,
                    llvm::Attribute::StackProtectReq}) {
    function.removeFnAttr(kind);
  }
  for (llvm::StringRef name :
       {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"}) {
    function.removeFnAttr(name);
  }
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr(llvm::Attribute::NullPointerIsValid);
  function.addFnAttr(llvm::Attribute::Convergent);  // it may call one that is; LLVM finds out who does not
  function.setPersonalityFn(nullptr);
}

// What a front end for C++ promises of values, and a kernel may break without harm on a GPU: a reference to memory
// that is not there but never read, a value that was never written passed on, a bool of 2 in a buffer.
void forget_promises(llvm::Function& function) {
  for (auto kind : {llvm::Attribute::NoUndef, llvm::Attribute::NonNull, llvm::Attribute::Dereferenceable,
                    llvm::Attribute::DereferenceableOrNull}) {
    function.removeRetAttr(kind);
    for (unsigned i = 0; i < function.arg_size(); ++i) function.removeParamAttr(i, kind);
  }
}
void forget_promises(llvm::CallBase& call) {
  for (auto kind : {llvm::Attribute::NoUndef, llvm::Attribute::NonNull, llvm::Attribute::Dereferenceable,
                    llvm::Attribute::DereferenceableOrNull}) {
    call.removeRetAttr(kind);
    for (unsigned i = 0; i < call.arg_size(); ++i) call.removeParamAttr(i, kind);
  }
}
void forget_promises(llvm::LoadInst& load) {
  mark_bool(load);
  for (unsigned kind : {llvm::LLVMContext::MD_range, llvm::LLVMContext::MD_noundef, llvm::LLVMContext::MD_nonnull,
                        llvm::LLVMContext::MD_dereferenceable}) {
    load.setMetadata(kind, nullptr);
  }
}

// The loop's metadata without its promise of progress.
void forget_progress(llvm::Instruction& branch) {
  llvm::MDNode* loop = branch.getMetadata(llvm::LLVMContext::MD_loop);
  if (!loop) return;
  llvm::SmallVector<llvm::Metadata*, 4> kept = {nullptr};
  for (unsigned i = 1; i < loop->getNumOperands(); ++i) {
    llvm::Metadata* operand = loop->getOperand(i);
    if (auto* node = llvm::dyn_cast<llvm::MDNode>(operand); node && node->getNumOperands() > 0) {
      auto* name = llvm::dyn_cast<llvm::MDString>(node->getOperand(0));
      if (name && name->getString() == "llvm.loop.mustprogress") continue;
    }
    kept.push_back(operand);
  }
  if (kept.size() == loop->getNumOperands()) return;
  llvm::MDNode* changed = llvm::MDNode::getDistinct(branch.getContext(), kept);
  changed->replaceOperandWith(0, changed);
  branch.setMetadata(llvm::LLVMContext::MD_loop, changed);
}

// A note at a variable is a use of its address: it would stay in memory, and so would the argument that it holds.
void drop_notes(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) continue;
    const llvm::Intrinsic::ID id = call->getIntrinsicID();
    if (id == llvm::Intrinsic::ptr_annotation || id == llvm::Intrinsic::annotation) {
      call->replaceAllUsesWith(call->getArgOperand(0));
    } else if (id != llvm::Intrinsic::var_annotation) {
      continue;
    }
    call->eraseFromParent();
  }
}

void normalise_operation(llvm::Function& function) {
  if (!function.getName().starts_with(llvm::StringRef(operation_prefix))) return;
  function.setAttributes({});
  function.addFnAttr(llvm::Attribute::NoUnwind);
  const Operation* operation = find_operation(function.getName());
  if (!operation) return;  // check_operations refuses it
  function.setMemoryEffects(operation->memory);
  if (operation->is_convergent) function.addFnAttr(llvm::Attribute::Convergent);
  if (operation->will_return) function.addFnAttr(llvm::Attribute::WillReturn);
}

template <typename Atomic>
void set_scope(Atomic& access) {
  const bool is_threadgroup = access.getPointerAddressSpace() == threadgroup_space;
  const std::string_view name = is_threadgroup ? threadgroup_scope_name : device_scope_name;
  access.setSyncScopeID(access.getContext().getOrInsertSyncScopeID(llvm::StringRef(name)));
}

// Clang's target has no scopes: all atomic accesses come with that of the whole system.
void scope_atomic(llvm::Instruction& instruction) {
  if (!instruction.isAtomic()) return;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) set_scope(*load);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) set_scope(*store);
  if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) set_scope(*change);
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) set_scope(*exchange);
}

}  // namespace

llvm::FunctionCallee declare_operation(llvm::Module& module, std::string_view name) {
  llvm::FunctionCallee operation =
      module.getOrInsertFunction(llvm::StringRef(name), type_of(name, module.getContext()));
  normalise_operation(*llvm::cast<llvm::Function>(operation.getCallee()));
  return operation;
}

void normalise_attributes(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) {
      if (!function.isIntrinsic()) normalise_operation(function);
      continue;
    }
    normalise_definition(function);
    forget_promises(function);
    drop_notes(function);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        forget_promises(*call);
        call->removeFnAttr(llvm::Attribute::WillReturn);
        llvm::Function* callee = call->getCalledFunction();
        if (callee && callee->getName().starts_with(llvm::StringRef(operation_prefix))) {
          // What the call site claims (convergence aside) is the front end's guess; the declaration knows.
          call->setAttributes({});
        }
      }
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) forget_promises(*load);
      scope_atomic(instruction);
      if (instruction.isTerminator()) forget_progress(instruction);
    }
  }
}

}  // namespace metalloid::ir
