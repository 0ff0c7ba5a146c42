#include "engines/simd/lane/prepare_calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/ArgumentPromotion.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>
#include <utility>

#include "engines/simd/lane/hand_on_memory.h"
#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/vectors/parts.h"
#include "ir/support/change_signature.h"
#include "ir/support/pass_down.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr const char* first_thread_attribute = "metalloid.first_thread";
// Elements of a structure that is handed on in registers: each is a vector there.
constexpr unsigned most_elements = 64;

// Element by element, so that elements can become parameters.
void copy_elements(llvm::IRBuilder<>& builder, llvm::Type* type, Value* to, Value* from, llvm::Align alignment,
                   std::uint64_t offset = 0) {
  const llvm::DataLayout& layout = builder.GetInsertBlock()->getDataLayout();
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      const std::uint64_t place = layout.getStructLayout(structure)->getElementOffset(i).getFixedValue();
      copy_elements(builder, structure->getElementType(i), to, from, alignment, offset + place);
    }
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const std::uint64_t stride = layout.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (std::uint64_t i = 0; i < array->getNumElements(); ++i) {
      copy_elements(builder, array->getElementType(), to, from, alignment, offset + i * stride);
    }
  } else {
    const auto at = [&](Value* address) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
    };
    const llvm::Align own = llvm::commonAlignment(alignment, offset);
    builder.CreateAlignedStore(builder.CreateAlignedLoad(type, at(from), own), at(to), own);
  }
}

// What is handed on by the address of a copy is copied where it comes to.
void copy_at_start(llvm::Function& function) {
  llvm::IRBuilder<> builder(&function.getEntryBlock(), function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  for (llvm::Argument& parameter : function.args()) {
    if (!parameter.hasByValAttr()) continue;
    llvm::Type* type = parameter.getParamByValType();
    const llvm::Align alignment = parameter.getParamAlign().valueOrOne();
    llvm::IRBuilder<> start(&function.getEntryBlock(), function.getEntryBlock().begin());
    llvm::AllocaInst* own = start.CreateAlloca(type, nullptr, parameter.getName());
    own->setAlignment(std::max(own->getAlign(), alignment));
    parameter.replaceAllUsesWith(own);
    if (parts_of(type) <= most_elements) {
      copy_elements(builder, type, own, &parameter, alignment);
    } else {
      const std::uint64_t bytes = function.getDataLayout().getTypeAllocSize(type).getFixedValue();
      builder.CreateMemCpy(own, own->getAlign(), &parameter, alignment, bytes);
    }
    const unsigned number = parameter.getArgNo();
    function.removeParamAttr(number, llvm::Attribute::ByVal);
    for (llvm::User* user : function.users()) {
      llvm::cast<llvm::CallBase>(user)->removeParamAttr(number, llvm::Attribute::ByVal);
    }
  }
}

// What is handed back by an address becomes the result.
void return_structure(llvm::Function& function) {
  constexpr unsigned place = 0;
  if (!function.arg_size() || !function.hasParamAttribute(place, llvm::Attribute::StructRet)) return;
  llvm::Type* type = function.getParamStructRetType(place);
  const llvm::Align alignment = function.getParamAlign(place).valueOrOne();
  if (parts_of(type) > most_elements) {
    function.removeParamAttr(place, llvm::Attribute::StructRet);
    for (llvm::User* user : function.users()) {
      llvm::cast<llvm::CallBase>(user)->removeParamAttr(place, llvm::Attribute::StructRet);
    }
    return;
  }
  const auto without_first = [&](const llvm::AttributeList& attributes, unsigned count) {
    llvm::SmallVector<llvm::AttributeSet, 8> parameters;
    for (unsigned i = 1; i < count; ++i) parameters.push_back(attributes.getParamAttrs(i));
    return llvm::AttributeList::get(function.getContext(), attributes.getFnAttrs(), {}, parameters);
  };
  const llvm::AttributeList attributes = without_first(function.getAttributes(), function.arg_size());
  const llvm::ArrayRef<llvm::Type*> rest = function.getFunctionType()->params().drop_front();
  llvm::Function& made = ir::take_over(function, llvm::FunctionType::get(type, rest, /*isVarArg=*/false));
  made.setAttributes(attributes);
  llvm::IRBuilder<> start(&made.getEntryBlock(), made.getEntryBlock().begin());
  llvm::AllocaInst* result = start.CreateAlloca(type, nullptr, "result");
  result->setAlignment(std::max(result->getAlign(), alignment));
  for (llvm::Argument& before : function.args()) {
    Value* now = before.getArgNo() == place ? static_cast<Value*>(result) : made.getArg(before.getArgNo() - 1);
    now->takeName(&before);
    before.replaceAllUsesWith(now);
  }
  for (llvm::BasicBlock& block : made) {
    auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (!end) continue;
    llvm::IRBuilder<> builder(end);
    builder.CreateRet(builder.CreateAlignedLoad(type, result, alignment));
    end->eraseFromParent();
  }
  for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    const llvm::SmallVector<Value*, 8> operands(llvm::drop_begin(call->args()));
    llvm::CallInst* now = builder.CreateCall(&made, operands);
    now->setAttributes(without_first(call->getAttributes(), call->arg_size()));
    builder.CreateAlignedStore(now, call->getArgOperand(place), alignment);
    call->eraseFromParent();
  }
  function.eraseFromParent();
}

// Elements that are only read become parameters.
void promote_elements(llvm::Module& module) {
  LaneManagers managers;
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  simplify.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(simplify)));
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(llvm::ArgumentPromotionPass(most_elements)));
  passes.run(module, managers.modules);
}

}  // namespace

std::vector<llvm::Function*> functions_that_stay(llvm::Function& program) {
  std::vector<llvm::Function*> found = {&program};
  llvm::SmallPtrSet<llvm::Function*, 8> seen = {&program};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (llvm::Instruction& instruction : llvm::instructions(*found[i])) {
      llvm::Function* callee = ir::called_definition(instruction);
      if (callee && seen.insert(callee).second) found.push_back(callee);
    }
  }
  found.erase(found.begin());
  return found;
}

void hand_on_structures(llvm::Module& module, llvm::Function& kernel) {
  if (functions_that_stay(kernel).empty()) return;
  for (llvm::Function* function : functions_that_stay(kernel)) copy_at_start(*function);
  for (llvm::Function* function : functions_that_stay(kernel)) return_structure(*function);
  for (llvm::Function* function : functions_that_stay(kernel)) optimise_lane(*function);  // constant places, for one
  hand_on_memory(functions_that_stay(kernel));
  promote_elements(module);
}

void pass_first_thread(llvm::Module& module, llvm::Function& lane) {
  const std::vector<llvm::Function*> users = functions_that_stay(lane);
  const auto known = ir::pass_down(module, users, llvm::Type::getInt32Ty(module.getContext()), "first_thread",
                                   [](llvm::Function& function) { return function.getArg(1); });
  for (const auto& [function, first] : known) {
    if (function == &lane) continue;
    llvm::cast<llvm::Argument>(first)->addAttr(llvm::Attribute::get(module.getContext(), first_thread_attribute));
  }
}

Value* first_thread_in_call(llvm::Function& function) {
  return llvm::find_if(function.args(),
                       [](llvm::Argument& parameter) { return parameter.hasAttribute(first_thread_attribute); });
}

}  // namespace metalloid::engines::simd
