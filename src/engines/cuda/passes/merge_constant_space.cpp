#include "engines/cuda/passes/merge_constant_space.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

class Types final : public llvm::ValueMapTypeRemapper {
 public:
  llvm::Type* remapType(llvm::Type* type) override {
    llvm::Type*& known = known_[type];
    if (!known) {
      llvm::Type* made = make(type);
      known_[type] = made;
      return made;
    }
    return known;
  }

 private:
  llvm::Type* make(llvm::Type* type) {
    if (const auto* pointer = llvm::dyn_cast<llvm::PointerType>(type)) {
      return pointer->getAddressSpace() == constant_space ? llvm::PointerType::get(type->getContext(), 0) : type;
    }
    llvm::SmallVector<llvm::Type*, 4> parts;
    bool differs = false;
    for (llvm::Type* part : type->subtypes()) {
      parts.push_back(remapType(part));
      differs |= parts.back() != part;
    }
    if (!differs) return type;
    if (const auto* function = llvm::dyn_cast<llvm::FunctionType>(type)) {
      return llvm::FunctionType::get(parts.front(), llvm::ArrayRef(parts).drop_front(), function->isVarArg());
    }
    if (const auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      return llvm::StructType::get(type->getContext(), parts, structure->isPacked());
    }
    if (const auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      return llvm::ArrayType::get(parts.front(), array->getNumElements());
    }
    if (const auto* vector = llvm::dyn_cast<llvm::VectorType>(type)) {
      return llvm::VectorType::get(parts.front(), vector->getElementCount());
    }
    return type;
  }

  llvm::DenseMap<llvm::Type*, llvm::Type*> known_;
};

class Merge {
 public:
  explicit Merge(llvm::Module& module) : module_(module) {}

  void run() {
    make_globals();
    make_functions();
    for (const auto& [from, to] : globals_) {
      if (from->hasInitializer())
        to->setInitializer(llvm::MapValue(from->getInitializer(), map_, llvm::RF_None, &types_));
    }
    for (const auto& [from, to] : functions_) {
      llvm::SmallVector<llvm::ReturnInst*, 4> ends;
      for (const auto& [before, after] : llvm::zip(from->args(), to->args())) {
        after.setName(before.getName());
        map_[&before] = &after;
      }
      llvm::CloneFunctionInto(to, from, map_, llvm::CloneFunctionChangeType::LocalChangesOnly, ends, "", nullptr,
                              &types_);
      drop_empty_casts(*to);
    }
    erase();
  }

 private:
  // Those in constant memory, and those whose values name it.
  void make_globals() {
    llvm::SmallVector<llvm::GlobalVariable*, 16> all;
    llvm::SmallVector<llvm::Constant*, 16> constants;
    for (llvm::GlobalVariable& global : module_.globals()) {
      if (global.getAddressSpace() == constant_space) constants.push_back(&global);
    }
    llvm::convertUsersOfConstantsToInstructions(constants, nullptr, /*RemoveDeadConstants=*/true,
                                                /*IncludeSelf=*/false);
    for (llvm::GlobalVariable& global : module_.globals()) {
      if (global.getAddressSpace() == constant_space ||
          types_.remapType(global.getValueType()) != global.getValueType()) {
        all.push_back(&global);
      }
    }
    for (llvm::GlobalVariable* global : all) {
      const unsigned space =
          global->getAddressSpace() == constant_space ? unsigned{device_space} : global->getAddressSpace();
      auto* made = new llvm::GlobalVariable(module_, types_.remapType(global->getValueType()), global->isConstant(),
                                            global->getLinkage(), nullptr, "", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, space);
      made->takeName(global);
      made->setAlignment(global->getAlign());
      globals_.emplace_back(global, made);
      llvm::Constant* seen = made;
      if (space != global->getAddressSpace()) {
        seen = llvm::ConstantExpr::getAddrSpaceCast(made, llvm::PointerType::get(module_.getContext(), 0));
      }
      map_[global] = seen;
    }
  }

  void make_functions() {
    llvm::SmallVector<llvm::Function*, 16> all;
    for (llvm::Function& function : module_) all.push_back(&function);
    for (llvm::Function* function : all) {
      auto* type = llvm::cast<llvm::FunctionType>(types_.remapType(function->getFunctionType()));
      if (function->isIntrinsic()) {
        if (type == function->getFunctionType()) continue;
        llvm::SmallVector<llvm::Type*, 4> overloads;
        if (!llvm::Intrinsic::getIntrinsicSignature(function->getIntrinsicID(), type, overloads)) continue;
        map_[function] = llvm::Intrinsic::getOrInsertDeclaration(&module_, function->getIntrinsicID(), overloads);
        old_declarations_.push_back(function);
        continue;
      }
      if (function->isDeclaration()) continue;
      llvm::Function* made =
          llvm::Function::Create(type, function->getLinkage(), function->getAddressSpace(), "", &module_);
      made->takeName(function);
      functions_.emplace_back(function, made);
      map_[function] = made;
    }
  }

  static void drop_empty_casts(llvm::Function& function) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
      if (!cast || cast->getType() != cast->getOperand(0)->getType()) continue;
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
  }

  void erase() {
    for (const auto& [from, to] : functions_) from->deleteBody();
    for (const auto& [from, to] : functions_) from->eraseFromParent();
    for (llvm::Function* declaration : old_declarations_) declaration->eraseFromParent();
    for (const auto& [from, to] : globals_) from->setInitializer(nullptr);
    for (const auto& [from, to] : globals_) {
      from->removeDeadConstantUsers();
      from->eraseFromParent();
    }
  }

  llvm::Module& module_;
  Types types_;
  llvm::ValueToValueMapTy map_;
  llvm::SmallVector<std::pair<llvm::GlobalVariable*, llvm::GlobalVariable*>, 16> globals_;
  llvm::SmallVector<std::pair<llvm::Function*, llvm::Function*>, 4> functions_;
  llvm::SmallVector<llvm::Function*, 4> old_declarations_;
};

}  // namespace

void merge_constant_space(llvm::Module& module) { Merge(module).run(); }

}  // namespace metalloid::engines::cuda
