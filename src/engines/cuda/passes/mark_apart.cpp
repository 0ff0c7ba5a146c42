#include "engines/cuda/passes/mark_apart.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>
#include <set>

#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

bool is_of_buffers(const llvm::Type& type) {
  const auto* pointer = llvm::dyn_cast<llvm::PointerType>(&type);
  return pointer && (pointer->getAddressSpace() == device_space || pointer->getAddressSpace() == constant_space ||
                     pointer->getAddressSpace() == 0);
}

bool holds_addresses(const llvm::Type& type) {
  if (type.isPointerTy()) return is_of_buffers(type);
  return llvm::any_of(type.subtypes(), [](const llvm::Type* part) { return holds_addresses(*part); });
}

// Whether nothing but stores fills a thread's variable: addresses that it has then are those that the kernel came to
// elsewhere.
bool is_filled_by_stores(const Value& variable) {
  return llvm::all_of(variable.users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::GetElementPtrInst>(user)) return is_filled_by_stores(*user);
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) return store->getValueOperand() != &variable;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    return llvm::isa<llvm::LoadInst>(user) || (call && call->isLifetimeStartOrEnd());
  });
}

bool reads_address(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || !holds_addresses(*load->getType())) return false;
  const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()));
  return !variable || !is_filled_by_stores(*variable);
}

// The number of an argument of which an address is.
std::optional<std::uint64_t> number_of(const Value& object) {
  const llvm::CallInst* call = as_argument(const_cast<Value&>(object));
  if (!call) return std::nullopt;
  return llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
}

// Arguments that the function writes; nothing if it may write through an address whose origin nobody knows.
std::optional<std::set<std::uint64_t>> written_arguments(llvm::Function& function) {
  std::set<std::uint64_t> written;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!instruction.mayWriteToMemory()) continue;
    const Value* address = nullptr;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      address = store->getPointerOperand();
    } else if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      address = change->getPointerOperand();
    } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      address = exchange->getPointerOperand();
    } else if (const auto* copy = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      address = copy->getRawDest();
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      const llvm::Function* callee = call->getCalledFunction();
      const bool hands_addresses =
          llvm::any_of(call->args(), [](const llvm::Use& use) { return is_of_buffers(*use->getType()); });
      // What lanes do together, and what orders memory.
      const bool is_of_lanes = callee && callee->isIntrinsic() && !hands_addresses;
      if (is_of_lanes || call->onlyAccessesInaccessibleMemory()) continue;
      return std::nullopt;
    } else if (llvm::isa<llvm::FenceInst>(instruction)) {
      continue;
    } else {
      return std::nullopt;
    }
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
    for (const Value* object : objects) {
      if (const auto number = number_of(*object)) {
        written.insert(*number);
      } else if (!llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(object)) {
        return std::nullopt;
      }
    }
  }
  return written;
}

}  // namespace

bool mark_apart(llvm::Module& module, const KernelInfo& info) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (reads_address(instruction) || llvm::isa<llvm::IntToPtrInst>(instruction)) return false;
    }
  }
  llvm::Function& kernel = *module.getFunction(info.symbol);
  for (llvm::Argument& parameter : kernel.args()) {
    const ArgumentInfo& argument = info.arguments[parameter.getArgNo()];
    // Tensors' elements lie behind a copy of their descriptor, where an inlined parameter's attribute says nothing.
    if (argument.kind == ArgumentKind::buffer && is_of_buffers(*parameter.getType()) && !parameter.hasByValAttr()) {
      parameter.addAttr(llvm::Attribute::NoAlias);
    }
  }
  return true;
}

void mark_invariant(const Entry& entry) {
  const auto written = written_arguments(*entry.function);
  if (!written) return;
  for (llvm::Instruction& instruction : llvm::instructions(*entry.function)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->isSimple()) continue;
    llvm::SmallVector<const Value*, 4> objects;
    llvm::getUnderlyingObjects(load->getPointerOperand(), objects, nullptr, /*MaxLookup=*/0);
    const bool is_never_written = llvm::all_of(objects, [&](const Value* object) {
      const auto number = number_of(*object);
      return number && !written->contains(*number);
    });
    if (!is_never_written) continue;
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
  }
}

}  // namespace metalloid::engines::cuda
