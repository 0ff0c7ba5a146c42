#include "ir/passes/threadgroup_addresses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>

#include "ir/passes/thread_variables.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

using llvm::Constant;
using llvm::GlobalVariable;

// The threadgroup variables, and the constants whose values lead to them.
class Addresses {
 public:
  explicit Addresses(llvm::Module& module) {
    for (GlobalVariable& global : module.globals()) {
      if (global.getAddressSpace() == threadgroup_space) add_users(global);
    }
  }

  llvm::ArrayRef<GlobalVariable*> constants() const { return constants_.getArrayRef(); }
  // Whether a constant is made of such an address.
  bool are_in(const Constant& value) const { return made_of_.contains(&value); }

 private:
  void add_users(GlobalVariable& global) {
    if (!made_of_.insert(&global).second) return;
    llvm::SmallVector<Constant*, 8> open = {&global};
    while (!open.empty()) {
      for (llvm::User* user : open.pop_back_val()->users()) {
        if (auto* constant = llvm::dyn_cast<GlobalVariable>(user)) {
          if (constant->getName().starts_with("llvm.")) continue;  // lists of LLVM's
          constants_.insert(constant);
          add_users(*constant);
        } else if (auto* value = llvm::dyn_cast<Constant>(user); value && made_of_.insert(value).second) {
          open.push_back(value);
        }
      }
    }
  }

  llvm::SmallPtrSet<const Constant*, 16> made_of_;
  llvm::SetVector<GlobalVariable*> constants_;
};

// Accesses of `old` go to `own`, which lies in another space.
void move_accesses(llvm::Value& old, llvm::Value& own) {
  for (llvm::Use& use : llvm::make_early_inc_range(old.uses())) {
    auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    if (!user) continue;
    llvm::IRBuilder<> builder(user);
    if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      const llvm::SmallVector<llvm::Value*, 4> indices(element->indices());
      llvm::Value* moved = builder.CreateGEP(element->getSourceElementType(), &own, indices, element->getName(),
                                             element->getNoWrapFlags());
      move_accesses(*element, *moved);
      if (element->use_empty()) element->eraseFromParent();
    } else if (llvm::isa<llvm::LoadInst>(user) ||
               (llvm::isa<llvm::StoreInst>(user) && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex())) {
      use.set(&own);
    } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(user)) {
      builder.CreateMemSet(&own, fill->getValue(), fill->getLength(), fill->getDestAlign());
      fill->eraseFromParent();
    } else if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user); copy) {
      const bool is_source = copy->getRawSource() == &old;
      builder.CreateMemCpy(is_source ? copy->getRawDest() : &own, copy->getDestAlign(),
                           is_source ? &own : copy->getRawSource(), copy->getSourceAlign(), copy->getLength());
      copy->eraseFromParent();
    }
  }
}

// Nothing may be taken for constant that is filled.
void move_to_plain_space(GlobalVariable& constant) {
  if (constant.getAddressSpace() == 0) return;
  auto* own = new GlobalVariable(*constant.getParent(), constant.getValueType(), /*isConstant=*/false,
                                 GlobalVariable::ExternalLinkage, nullptr, "", &constant);
  own->takeName(&constant);
  own->setAlignment(constant.getAlign());
  mark_thread_variable(*own);
  llvm::convertUsersOfConstantsToInstructions({&constant});
  move_accesses(constant, *own);
  constant.replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(own, constant.getType()));
  constant.eraseFromParent();
}

class Filler {
 public:
  Filler(llvm::Function& kernel, const Addresses& addresses)
      : addresses_(addresses),
        layout_(kernel.getDataLayout()),
        builder_(&kernel.getEntryBlock(), kernel.getEntryBlock().getFirstNonPHIOrDbgOrAlloca()) {}

  void fill(GlobalVariable& variable) {
    variable_ = &variable;
    Constant* value = variable.getInitializer();
    Constant* rest = without_addresses(*value);
    if (!rest->isNullValue() && !llvm::isa<llvm::UndefValue>(rest)) copy(rest);
    if (rest->isNullValue() && has_more_than_addresses(*value)) {
      builder_.CreateMemSet(&variable, builder_.getInt8(0), layout_.getTypeAllocSize(value->getType()),
                            variable.getAlign());
    }
    store_addresses(*value, 0);
    variable.setInitializer(nullptr);
    variable.setConstant(false);
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    mark_thread_variable(variable);
  }

 private:
  // With null in the place of each.
  Constant* without_addresses(Constant& value) const {
    if (!addresses_.are_in(value)) return &value;
    if (!is_record(value)) return Constant::getNullValue(value.getType());
    llvm::SmallVector<Constant*, 8> elements;
    for (llvm::Value* element : value.operands()) elements.push_back(without_addresses(*llvm::cast<Constant>(element)));
    if (auto* record = llvm::dyn_cast<llvm::StructType>(value.getType())) {
      return llvm::ConstantStruct::get(record, elements);
    }
    return llvm::ConstantArray::get(llvm::cast<llvm::ArrayType>(value.getType()), elements);
  }

  bool has_more_than_addresses(Constant& value) const {
    if (!addresses_.are_in(value)) return true;
    return is_record(value) && llvm::any_of(value.operands(), [&](llvm::Value* element) {
             return has_more_than_addresses(*llvm::cast<Constant>(element));
           });
  }

  static bool is_record(const Constant& value) { return llvm::isa<llvm::ConstantStruct, llvm::ConstantArray>(value); }

  void copy(Constant* rest) {
    llvm::Module& module = *variable_->getParent();
    auto* source = new GlobalVariable(module, rest->getType(), /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                      rest, variable_->getName() + ".rest", nullptr, llvm::GlobalValue::NotThreadLocal,
                                      variable_->getAddressSpace());
    source->setAlignment(variable_->getAlign());
    builder_.CreateMemCpy(variable_, variable_->getAlign(), source, variable_->getAlign(),
                          layout_.getTypeAllocSize(rest->getType()));
  }

  void store_addresses(Constant& value, std::uint64_t offset) {
    if (!addresses_.are_in(value)) return;
    if (!is_record(value)) {
      llvm::Value* place =
          offset == 0 ? variable_ : builder_.CreateConstGEP1_64(builder_.getInt8Ty(), variable_, offset);
      const llvm::Align own = layout_.getValueOrABITypeAlignment(variable_->getAlign(), variable_->getValueType());
      builder_.CreateAlignedStore(&value, place, llvm::commonAlignment(own, offset));
      return;
    }
    auto* record = llvm::dyn_cast<llvm::StructType>(value.getType());
    for (unsigned i = 0; i < value.getNumOperands(); ++i) {
      auto* element = llvm::cast<Constant>(value.getOperand(i));
      const std::uint64_t within = record ? layout_.getStructLayout(record)->getElementOffset(i).getFixedValue()
                                          : i * layout_.getTypeAllocSize(element->getType()).getFixedValue();
      store_addresses(*element, offset + within);
    }
  }

  const Addresses& addresses_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  GlobalVariable* variable_ = nullptr;
};

}  // namespace

void place_threadgroup_addresses(KernelModule& kernel) {
  llvm::Module& module = *kernel.module;
  llvm::Function* function = module.getFunction(kernel.info.symbol);
  if (!function) return;
  const Addresses addresses(module);
  if (addresses.constants().empty()) return;
  Filler filler(*function, addresses);
  for (GlobalVariable* constant : addresses.constants()) filler.fill(*constant);
  for (GlobalVariable* constant : addresses.constants()) move_to_plain_space(*constant);
}

}  // namespace metalloid::ir
