#include "engines/simd/lane/parameter_memory.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <optional>

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr std::int64_t far = std::int64_t{1} << 48;
constexpr Range anywhere = {-far, far};

// Whether the address leads to nothing but accesses, in functions that it is handed to as well.
bool stays_known(const Value& address, llvm::SmallPtrSetImpl<const Value*>& seen) {
  if (!seen.insert(&address).second) return true;
  return llvm::all_of(address.users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::LoadInst, llvm::MemIntrinsic>(user)) return true;
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) return store->getValueOperand() != &address;
    if (llvm::isa<llvm::GetElementPtrInst>(user)) return stays_known(*user, seen);
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->isLifetimeStartOrEnd()) return call != nullptr;
    const llvm::Function* callee = call->getCalledFunction();
    if (!callee || callee->isDeclaration()) return false;
    return llvm::all_of(callee->args(), [&](const llvm::Argument& parameter) {
      return call->getArgOperand(parameter.getArgNo()) != &address || stays_known(parameter, seen);
    });
  });
}

// Of an address in a variable or behind a parameter: where it begins, and the place. Nothing if that is not constant.
std::optional<std::int64_t> place_behind(const Value& root, const Value& address, const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  const Value* base = address.stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return base == &root ? std::optional(offset.getSExtValue()) : std::nullopt;
}

// The bytes that are accessed by an address, in functions that it is handed to as well. False: that is not known.
bool find_range(const Value& address, std::int64_t place, Range& range, llvm::SmallPtrSetImpl<const Value*>& asked) {
  return llvm::all_of(address.users(), [&](const llvm::User* user) {
    if (llvm::isa<llvm::LoadInst>(user) || (llvm::isa<llvm::StoreInst>(user) && user->getOperand(0) != &address)) {
      const auto bytes = static_cast<std::int64_t>(bytes_of(*llvm::cast<llvm::Instruction>(user)));
      range = {std::min(range.first, place), std::max(range.end, place + bytes)};
      return true;
    }
    if (const auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
      const auto behind = place_behind(address, *step, step->getDataLayout());
      return behind && find_range(*step, place + *behind, range, asked);
    }
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (!callee || callee->isDeclaration() || !asked.insert(callee).second) return false;
    const bool result = llvm::all_of(callee->args(), [&](const llvm::Argument& parameter) {
      return call->getArgOperand(parameter.getArgNo()) != &address || find_range(parameter, place, range, asked);
    });
    asked.erase(callee);
    return result;
  });
}

// Whether all that a function does by the address of an operand is known, and lies outside of `taken`, of `root`.
bool is_outside(const Value& root, Range taken, const Value& operand, const llvm::Argument& parameter) {
  Range range = {far, -far};
  llvm::SmallPtrSet<const Value*, 8> asked;
  if (!find_range(parameter, 0, range, asked)) return false;
  if (range.first >= range.end) return true;
  const auto place = place_behind(root, operand, parameter.getParent()->getDataLayout());
  return place && (*place + range.end <= taken.first || taken.end <= *place + range.first);
}

bool is_apart(llvm::Argument& parameter, Range range, llvm::SmallPtrSetImpl<const Value*>& asked) {
  if (!asked.insert(&parameter).second) return false;
  llvm::Function& function = *parameter.getParent();
  const bool result = llvm::all_of(function.users(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != &function) return false;
    const auto root = [](Value* address) { return llvm::getUnderlyingObject(address, /*MaxLookup=*/0); };
    Value* operand = call->getArgOperand(parameter.getArgNo());
    const Value* own = root(operand);
    const auto place = place_behind(*own, *operand, function.getDataLayout());
    const Range taken = place ? Range{*place + range.first, *place + range.end} : anywhere;
    llvm::SmallPtrSet<const Value*, 16> seen;
    if (const auto* outer = llvm::dyn_cast<llvm::Argument>(own)) {
      if (!is_apart(*call->getFunction()->getArg(outer->getArgNo()), taken, asked)) return false;
    } else if (!llvm::isa<llvm::AllocaInst>(own) || !stays_known(*own, seen)) {
      return false;
    }
    return llvm::all_of(llvm::enumerate(call->args()), [&](const auto& each) {
      Value* value = each.value().get();
      if (each.index() == parameter.getArgNo() || !is_thread_address(*value)) return true;
      const Value* other = root(value);
      if (other == own) return is_outside(*own, taken, *value, *function.getArg(each.index()));
      return llvm::isa<llvm::AllocaInst, llvm::Argument, llvm::GlobalVariable>(other);
    });
  });
  asked.erase(&parameter);
  return result;
}

bool is_of_variables(const llvm::Argument& parameter, Range range, llvm::SmallPtrSetImpl<const Value*>& asked) {
  if (!asked.insert(&parameter).second) return false;
  const llvm::DataLayout& layout = parameter.getParent()->getDataLayout();
  const bool result = llvm::all_of(parameter.getParent()->users(), [&](const llvm::User* user) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call || call->getCalledFunction() != parameter.getParent()) return false;
    llvm::APInt offset(64, 0);
    const Value* root = call->getArgOperand(parameter.getArgNo())
                            ->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    const std::int64_t place = offset.getSExtValue();
    if (const auto* outer = llvm::dyn_cast<llvm::Argument>(root)) {
      return is_of_variables(*outer, {range.first + place, range.end + place}, asked);
    }
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(root);
    const auto bytes = variable ? variable->getAllocationSize(layout) : std::nullopt;
    return bytes && range.first + place >= 0 && range.end + place <= static_cast<std::int64_t>(bytes->getFixedValue());
  });
  asked.erase(&parameter);
  return result;
}

}  // namespace

bool is_thread_address(const Value& value) {
  return value.getType()->isPointerTy() && value.getType()->getPointerAddressSpace() == 0;
}

std::uint64_t bytes_of(const llvm::Instruction& access) {
  return access.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue();
}

bool is_apart(llvm::Argument& parameter, Range range) {
  llvm::SmallPtrSet<const Value*, 16> asked;
  return is_apart(parameter, range, asked);
}

bool is_of_variables(const llvm::Argument& parameter, Range range) {
  llvm::SmallPtrSet<const Value*, 16> asked;
  return is_of_variables(parameter, range, asked);
}

}  // namespace metalloid::engines::simd
