#include "engines/cpu_shared/passes/kernel_memory.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstddef>

#include "checker/code/screen.h"
#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::cpu {

using llvm::Instruction;
using llvm::Value;

llvm::SmallVector<Access, 2> accesses_of(Instruction& instruction, const llvm::DataLayout& layout) {
  const auto bytes_of = [&](llvm::Type* type) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(instruction.getContext()),
                                  layout.getTypeStoreSize(type).getFixedValue());
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    return {{load, load->getPointerOperand(), bytes_of(load->getType()), AccessKind::read}};
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    return {{store, store->getPointerOperand(), bytes_of(store->getValueOperand()->getType()), AccessKind::write}};
  }
  if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    return {{change, change->getPointerOperand(), bytes_of(change->getType()), AccessKind::change}};
  }
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::Type* type = exchange->getNewValOperand()->getType();
    return {{exchange, exchange->getPointerOperand(), bytes_of(type), AccessKind::change}};
  }
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    return {{copy, copy->getRawSource(), copy->getLength(), AccessKind::read},
            {copy, copy->getRawDest(), copy->getLength(), AccessKind::write}};
  }
  if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) {
    return {{fill, fill->getRawDest(), fill->getLength(), AccessKind::write}};
  }
  if (auto* question = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const llvm::Function* callee = question->getCalledFunction();
    if (callee && callee->getName().starts_with(llvm::StringRef(checker::screen_access_name))) {
      return {{question, question->getArgOperand(0), question->getArgOperand(2), AccessKind::read}};
    }
  }
  return {};
}

std::string line_of(const Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  if (!location) return {};
  return fmt::format("{}:{}", location->getFilename().str(), location->getLine());
}

std::string name_of_variable(const Value& variable) {
  std::string name = llvm::demangle(variable.getName());
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  const std::string first = name.substr(0, name.find('.'));
  const bool is_made = name.find(".tmp") != std::string::npos || first == "tmp" || first == "coerce";
  return is_made ? std::string() : first;
}

std::optional<std::uint64_t> constant_of(const Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!number || number->getBitWidth() > 64) return std::nullopt;
  return number->getZExtValue();
}

KernelArguments::KernelArguments(llvm::Function& entry, const KernelInfo& info)
    : entry_(entry), info_(info), layout_(entry.getDataLayout()) {}

std::optional<unsigned> KernelArguments::find(Value& root) const {
  if (const auto direct = in_list(root)) {
    // What a tensor's descriptor is belongs to nobody but the engine.
    if (info_.arguments[*direct].kind == ArgumentKind::tensor) return std::nullopt;
    return direct;
  }
  const auto descriptor = elements_of(root);
  if (descriptor && info_.arguments[*descriptor].kind == ArgumentKind::tensor) return descriptor;
  return std::nullopt;
}

KernelArguments::Extent KernelArguments::extent_of(unsigned argument) {
  if (const auto found = extents_.find(argument); found != extents_.end()) return found->second;
  llvm::BasicBlock& first = entry_.getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
  const auto place = [&](Value* base, std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  };
  const auto load = [&](llvm::Type* type, Value* address, const char* name) {
    llvm::LoadInst* made = builder.CreateLoad(type, address, name);
    made->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(entry_.getContext(), {}));
    return made;
  };
  if (!list_) {
    Value* address = place(entry_.getArg(0), offsetof(ThreadgroupState, argument_bytes));
    list_ = load(builder.getPtrTy(), address, "argument_bytes");
  }
  builder.SetInsertPoint(list_->getNextNode());
  constexpr std::size_t word = sizeof(std::uint64_t);
  Value* bytes = load(builder.getInt64Ty(), place(list_, 2 * word * argument), "bytes");
  return extents_[argument] = {bytes, place(list_, 2 * word * argument + word)};
}

// The base of an address and how far behind it the address is.
std::pair<Value*, std::uint64_t> KernelArguments::apart(Value* address) const {
  llvm::APInt offset(64, 0);
  Value* base = address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
  return {base, offset.getZExtValue()};
}

std::optional<unsigned> KernelArguments::in_list(Value& value) const {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (!load || !load->getType()->isPointerTy()) return std::nullopt;
  const auto [list, place] = apart(load->getPointerOperand());
  auto* list_load = llvm::dyn_cast<llvm::LoadInst>(list);
  if (!list_load || place / sizeof(void*) >= info_.arguments.size()) return std::nullopt;
  const auto [state, offset] = apart(list_load->getPointerOperand());
  if (state != entry_.getArg(0) || offset != offsetof(ThreadgroupState, arguments)) return std::nullopt;
  return static_cast<unsigned>(place / sizeof(void*));
}

// The first word of a descriptor, or of the thread's copy.
std::optional<unsigned> KernelArguments::elements_of(Value& value) const {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (!load) return std::nullopt;
  const auto [base, offset] = apart(load->getPointerOperand());
  if (offset != 0) return std::nullopt;
  if (const auto argument = in_list(*base)) return argument;
  if (!llvm::isa<llvm::AllocaInst>(base)) return std::nullopt;
  std::optional<unsigned> source;
  for (llvm::User* user : base->users()) {
    auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user);
    if (!copy) continue;
    if (copy->getRawDest() != base || source) return std::nullopt;
    source = in_list(*copy->getRawSource());
    if (!source) return std::nullopt;
  }
  return source;
}

}  // namespace metalloid::engines::cpu
