#include "checker/code/tag_pointers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "checker/code/operations.h"
#include "ir/support/kept_pointers.h"
#include "ir/support/pointer_roots.h"

namespace metalloid::checker {
namespace {

using llvm::Value;

const llvm::Function* callee_of(const Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&value);
  return call ? call->getCalledFunction() : nullptr;
}

bool is_own_function(const Value& value) {
  const llvm::Function* callee = callee_of(value);
  return callee && !callee->isDeclaration();
}

// The runtime takes the tag off, or gives an address without one.
bool is_checked_access(const Value& value) {
  const llvm::Function* callee = callee_of(value);
  return callee && callee->getName().starts_with(llvm::StringRef(checked_access_name));
}

class Tagging {
 public:
  Tagging(ir::KernelModule& kernel, llvm::Function& function)
      : kernel_(kernel),
        function_(function),
        is_entry_(function.getName() == llvm::StringRef(kernel.info.symbol)),
        builder_(function.getContext()),
        kept_(function),
        roots_(function, [&](Value& root) { return describe(root); }) {}

  void run() {
    std::vector<llvm::Use*> given, looked_at;
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      for (llvm::Use& use : instruction.operands()) {
        if (!use->getType()->isPointerTy() || llvm::isa<llvm::Function>(use.get())) continue;
        if (goes_on(use)) continue;
        (is_given_away(use) ? given : looked_at).push_back(&use);
      }
    }
    for (llvm::Use* use : given) tag(*use);
    for (llvm::Use* use : looked_at) untag(*use);
  }

 private:
  // A root's tag; none for what is not an argument's buffer.
  std::optional<ir::PointerRoots::Root> describe(Value& root) {
    const auto tagged = [&](std::uint64_t tag) { return ir::PointerRoots::Root{{builder_.getInt64(tag)}}; };
    if (llvm::isa<llvm::AllocaInst, llvm::Constant>(root)) return tagged(0);
    const auto* argument = llvm::dyn_cast<llvm::Argument>(&root);
    if (!argument || !is_entry_) return std::nullopt;
    const bool is_buffer = kernel_.info.arguments[argument->getArgNo()].kind == ArgumentKind::buffer;
    return tagged(is_buffer ? std::uint64_t{argument->getArgNo() + 1} << tag_shift : 0);
  }

  // Makes one pointer of another.
  static bool goes_on(const llvm::Use& use) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    return llvm::isa<llvm::PHINode, llvm::SelectInst, llvm::ExtractValueInst>(user) || is_checked_access(*user) ||
           (user->getType()->isPointerTy() && ir::pointer_below(const_cast<llvm::Instruction*>(user)));
  }

  // To where nobody follows it.
  bool is_given_away(const llvm::Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      return use.getOperandNo() == 0 && !kept_.follows(store->getPointerOperand());
    }
    return llvm::isa<llvm::ReturnInst, llvm::InsertValueInst>(user) || is_own_function(*user);
  }

  void place(const llvm::Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    builder_.SetInsertPoint(user);
    builder_.SetCurrentDebugLocation(user->getDebugLoc());
  }

  void tag(llvm::Use& use) {
    const auto values = roots_.values_of(use);
    if (!values || values->empty()) return;
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(values->front());
    if (known && known->isZero()) return;
    place(use);
    Value* tagged = builder_.CreateGEP(builder_.getInt8Ty(), use, values->front());
    use.set(builder_.CreateSelect(builder_.CreateIsNull(use), use, tagged));
  }

  void untag(llvm::Use& use) {
    if (is_checked_access(*use) || roots_.values_of(use)) return;
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store && use.getOperandNo() == 0) return;  // as it is
    place(use);
    const std::uint64_t mask = (std::uint64_t{1} << tag_shift) - 1;
    use.set(builder_.CreateIntrinsic(llvm::Intrinsic::ptrmask, {use->getType(), builder_.getInt64Ty()},
                                     {use.get(), builder_.getInt64(mask)}));
  }

  ir::KernelModule& kernel_;
  llvm::Function& function_;
  bool is_entry_;
  llvm::IRBuilder<> builder_;
  ir::KeptPointers kept_;
  ir::PointerRoots roots_;
};

}  // namespace

bool has_checked_calls(const ir::KernelModule& kernel) {
  return llvm::any_of(*kernel.module, [&](const llvm::Function& function) {
    if (function.getName() == llvm::StringRef(kernel.info.symbol)) return false;
    return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
      const llvm::Function* callee = callee_of(instruction);
      return callee && (callee->getName().starts_with(llvm::StringRef(check_access_name)) ||
                        callee->getName().starts_with(llvm::StringRef(checked_access_name)));
    });
  });
}

void tag_pointers(ir::KernelModule& kernel) {
  for (llvm::Function& function : *kernel.module) {
    if (!function.isDeclaration()) Tagging(kernel, function).run();
  }
}

}  // namespace metalloid::checker
