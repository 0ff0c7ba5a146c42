#include "engines/simd/widening/seldom_run.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/FunctionComparator.h>

#include <string>

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Value;

using Blocks = llvm::SmallSetVector<BasicBlock*, 8>;

Blocks blocks_from(BasicBlock& first, const BasicBlock& behind) {
  Blocks blocks;
  blocks.insert(&first);
  for (unsigned i = 0; i < blocks.size(); ++i) {
    for (BasicBlock* next : llvm::successors(blocks[i])) {
      if (next != &behind) blocks.insert(next);
    }
  }
  return blocks;
}

bool is_used_elsewhere(const llvm::AllocaInst& variable, const Blocks& blocks) {
  return llvm::any_of(variable.users(), [&](const llvm::User* user) {
    return !blocks.contains(const_cast<BasicBlock*>(llvm::cast<llvm::Instruction>(user)->getParent()));
  });
}

// What callers hand on, and the function's own variables.
struct Taken {
  llvm::SmallSetVector<Value*, 16> values;
  llvm::SmallSetVector<llvm::AllocaInst*, 2> variables;
};

Taken taken_by(const Blocks& blocks) {
  Taken taken;
  for (BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : *block) {
      for (Value* operand : instruction.operands()) {
        const auto* inside = llvm::dyn_cast<llvm::Instruction>(operand);
        if (inside && blocks.contains(const_cast<BasicBlock*>(inside->getParent()))) continue;
        auto* variable = llvm::dyn_cast<llvm::AllocaInst>(operand);
        if (variable && !is_used_elsewhere(*variable, blocks)) {
          taken.variables.insert(variable);
        } else if (llvm::isa<llvm::Instruction, llvm::Argument, llvm::GlobalVariable>(operand)) {
          taken.values.insert(operand);
        }
      }
    }
  }
  return taken;
}

// Sets of lanes are handed on as the bits of a number.
llvm::Type* handed_on_as(const Value& value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  if (!vector || !vector->getElementType()->isIntegerTy(1)) return value.getType();
  return llvm::IntegerType::get(value.getContext(), vector->getNumElements());
}

llvm::Function& function_of(const Blocks& blocks, BasicBlock& behind, const Taken& taken, const std::string& name) {
  BasicBlock& first = *blocks[0];
  llvm::Module& module = *first.getModule();
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Type*, 16> types;
  for (const Value* value : taken.values) types.push_back(handed_on_as(*value));
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::Cold}) {
    function->addFnAttr(attribute);
  }
  if (module.getTargetTriple().isX86()) function->setCallingConv(llvm::CallingConv::PreserveMost);
  // It reads how large memory is, which nothing writes, and ends the dispatch.
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly() |
                             llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
  auto* end = BasicBlock::Create(context, "end", function);
  llvm::ReturnInst::Create(context, end);
  for (BasicBlock* block : blocks) {
    block->removeFromParent();
    block->insertInto(function, end);
    block->getTerminator()->replaceSuccessorWith(&behind, end);
    for (llvm::Instruction& instruction : *block) instruction.setDebugLoc({});
  }
  llvm::IRBuilder<> builder(&first, first.begin());
  for (llvm::AllocaInst* variable : taken.variables) {
    variable->removeFromParent();
    builder.Insert(variable);
  }
  for (const auto [value, argument] : llvm::zip(taken.values, function->args())) {
    Value* own = builder.CreateBitCast(&argument, value->getType());
    value->replaceUsesWithIf(own, [&](const llvm::Use& use) {
      const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return user && user->getFunction() == function;
    });
  }
  return *function;
}

// The one that does the same, if there is one.
llvm::Function* known_like(llvm::Function& function, const std::string& name) {
  llvm::GlobalNumberState numbers;
  for (unsigned i = 0;; ++i) {
    llvm::Function* known = function.getParent()->getFunction(name + llvm::utostr(i));
    if (!known || known == &function) return nullptr;
    if (llvm::FunctionComparator(known, &function, &numbers).compare() == 0) return known;
  }
}

}  // namespace

void call_seldom_run(BasicBlock& first, BasicBlock& behind) {
  llvm::Function& caller = *first.getParent();
  auto* call_block = BasicBlock::Create(caller.getContext(), first.getName(), &caller, &first);
  first.replaceAllUsesWith(call_block);
  const Blocks blocks = blocks_from(first, behind);
  llvm::IRBuilder<> builder(call_block);
  builder.SetCurrentDebugLocation(first.getTerminator()->getDebugLoc());
  for (BasicBlock* block : blocks) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      const auto* variable = load ? llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand()) : nullptr;
      if (variable && is_used_elsewhere(*variable, blocks)) load->moveBefore(*call_block, call_block->end());
    }
  }
  const Taken taken = taken_by(blocks);
  std::string name = "seldom.run.";
  llvm::raw_string_ostream stream(name);
  for (const Value* value : taken.values) stream << *handed_on_as(*value) << '.';
  unsigned number = 0;
  while (caller.getParent()->getFunction(name + llvm::utostr(number))) ++number;
  llvm::Function* called = &function_of(blocks, behind, taken, name + llvm::utostr(number));
  if (llvm::Function* known = known_like(*called, name)) {
    called->eraseFromParent();
    called = known;
  }
  llvm::SmallVector<Value*, 16> operands;
  for (Value* value : taken.values) operands.push_back(builder.CreateBitCast(value, handed_on_as(*value)));
  builder.CreateCall(called, operands)->setCallingConv(called->getCallingConv());
  builder.CreateBr(&behind);
}

}  // namespace metalloid::engines::simd
