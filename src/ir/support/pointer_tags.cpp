#include "ir/support/pointer_tags.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>
#include <vector>

#include "ir/support/kept_pointers.h"
#include "ir/support/pass_down.h"
#include "ir/support/pointer_roots.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

constexpr std::uint64_t address_bits = (std::uint64_t{1} << tag_shift) - 1;
constexpr const char* tag_metadata = "metalloid.tag";

bool is_of_buffers(const llvm::Type* type) {
  return type->isPointerTy() &&
         (type->getPointerAddressSpace() == device_space || type->getPointerAddressSpace() == constant_space);
}

class Tagging {
 public:
  Tagging(KernelModule& kernel, llvm::Function& function)
      : kernel_(kernel),
        function_(function),
        is_entry_(function.getName() == llvm::StringRef(kernel.info.symbol)),
        builder_(function.getContext()),
        kept_(function),
        roots_(function, [&](Value& root) { return describe(root); }) {}

  void run() {
    std::vector<Value*> received;
    std::vector<llvm::Use*> given;
    for (llvm::Argument& argument : function_.args()) {
      if (!is_entry_ && is_of_buffers(argument.getType())) received.push_back(&argument);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (is_of_buffers(instruction.getType()) && is_received(instruction)) received.push_back(&instruction);
      for (llvm::Use& use : instruction.operands()) {
        if (is_of_buffers(use->getType()) && is_given(use)) given.push_back(&use);
      }
    }
    for (Value* pointer : received) take_off(*pointer);
    for (llvm::Use* use : given) tag(*use);
  }

 private:
  // A root's tag where it stands in an address.
  std::optional<PointerRoots::Root> describe(Value& root) {
    const auto tagged = [&](Value* tag) { return PointerRoots::Root{{tag}, nullptr}; };
    if (llvm::isa<llvm::AllocaInst, llvm::Constant>(root)) return tagged(builder_.getInt64(0));
    if (Value* tag = tag_of(root)) {
      builder_.SetInsertPoint(llvm::cast<llvm::Instruction>(tag)->getNextNode());
      return tagged(builder_.CreateShl(tag, tag_shift));
    }
    const auto* argument = llvm::dyn_cast<llvm::Argument>(&root);
    if (!argument || !is_entry_) return std::nullopt;
    const bool is_buffer = kernel_.info.arguments[argument->getArgNo()].kind == ArgumentKind::buffer;
    return tagged(builder_.getInt64(is_buffer ? std::uint64_t{argument->getArgNo() + 1} << tag_shift : 0));
  }

  bool is_received(const llvm::Instruction& instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      auto* address = const_cast<Value*>(load->getPointerOperand());
      return load->getPointerAddressSpace() == 0 && !kept_.follows(address);
    }
    return llvm::isa<llvm::ExtractValueInst>(instruction) || called_definition(instruction);
  }

  // Memory of buffers outlives the kernel, and others read it.
  bool is_given(const llvm::Use& use) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      return use.getOperandNo() == 0 && store->getPointerAddressSpace() == 0 &&
             !kept_.follows(store->getPointerOperand());
    }
    return llvm::isa<llvm::ReturnInst, llvm::InsertValueInst>(user) || called_definition(*user);
  }

  void take_off(Value& pointer) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&pointer);
    const auto place = instruction ? instruction->getInsertionPointAfterDef()
                                   : std::optional(function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    if (!place) return;
    builder_.SetInsertPoint(*place);
    auto* mask = llvm::cast<llvm::Instruction>(builder_.CreateIntrinsic(llvm::Intrinsic::ptrmask,
                                                                        {pointer.getType(), builder_.getInt64Ty()},
                                                                        {&pointer, builder_.getInt64(address_bits)}));
    pointer.replaceUsesWithIf(mask, [&](const llvm::Use& use) { return use.getUser() != mask; });
    mask->setMetadata(tag_metadata, llvm::MDNode::get(function_.getContext(), {}));
  }

  void tag(llvm::Use& use) {
    const auto values = roots_.values_of(use);
    if (!values || values->empty()) return;
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(values->front());
    if (known && known->isZero()) return;
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    builder_.SetInsertPoint(user);
    builder_.SetCurrentDebugLocation(user->getDebugLoc());
    use.set(builder_.CreateGEP(builder_.getInt8Ty(), use, values->front()));
  }

  KernelModule& kernel_;
  llvm::Function& function_;
  bool is_entry_;
  llvm::IRBuilder<> builder_;
  KeptPointers kept_;
  PointerRoots roots_;
};

}  // namespace

bool has_accesses_in_calls(const KernelModule& kernel) {
  return llvm::any_of(*kernel.module, [&](const llvm::Function& function) {
    if (function.isDeclaration() || function.getName() == llvm::StringRef(kernel.info.symbol)) return false;
    return llvm::any_of(llvm::instructions(function),
                        [](const llvm::Instruction& instruction) { return instruction.mayReadOrWriteMemory(); });
  });
}

void tag_pointers(KernelModule& kernel) {
  for (llvm::Function& function : *kernel.module) {
    if (!function.isDeclaration()) Tagging(kernel, function).run();
  }
}

bool is_bare(const Value& value) {
  const auto* mask = llvm::dyn_cast<llvm::IntrinsicInst>(&value);
  return mask && mask->getIntrinsicID() == llvm::Intrinsic::ptrmask && mask->getMetadata(tag_metadata);
}

Value* tag_of(Value& root) {
  if (!is_bare(root)) return nullptr;
  auto& mask = llvm::cast<llvm::IntrinsicInst>(root);
  llvm::IRBuilder<> builder(mask.getNextNode());
  return builder.CreateLShr(builder.CreatePtrToInt(mask.getArgOperand(0), builder.getInt64Ty()), tag_shift);
}

}  // namespace metalloid::ir
