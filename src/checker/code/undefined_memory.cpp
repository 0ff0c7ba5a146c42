#include "checker/code/undefined_memory.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "checker/code/undefined_bits.h"

namespace metalloid::checker {

using llvm::Value;

namespace {

constexpr std::uint64_t origin_bytes = 4;  // of a variable have one origin

std::uint64_t origins_in(std::uint64_t bytes) { return (bytes + origin_bytes - 1) / origin_bytes; }

}  // namespace

UndefinedMemory::UndefinedMemory(llvm::Function& function, const UndefinedSources& sources, llvm::IRBuilder<>& builder,
                                 bool tells)
    : layout_(function.getDataLayout()),
      sources_(sources),
      builder_(builder),
      tells_(tells),
      roots_(function, [this](Value& root) { return describe(root); }, ir::PointerRoots::Kept::ignore) {
  for (llvm::AllocaInst* variable : sources.variables()) add(*variable);
}

void UndefinedMemory::add(llvm::AllocaInst& variable) {
  const std::uint64_t size = variable.getAllocationSize(layout_)->getFixedValue();
  // Accesses of the origins begin at multiples and may reach over the end.
  const std::uint64_t padded = llvm::alignTo(size, origin_bytes) + origin_bytes;
  builder_.SetInsertPoint(&variable);
  const auto make = [&](std::uint64_t bytes, const char* suffix) {
    auto* beside =
        builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes), nullptr, variable.getName() + suffix);
    beside->setAlignment(std::max(variable.getAlign(), llvm::Align(origin_bytes)));
    return beside;
  };
  llvm::AllocaInst* bits = make(size, ".undefined");
  const Variable own{bits, tells_ ? make(padded, ".origins") : bits, size};
  variables_[&variable] = own;
  const bool begins_undefined = sources_.begin_undefined().contains(&variable);
  builder_.SetInsertPoint(variable.getNextNode());
  begin(variable, own, begins_undefined);
  if (!begins_undefined) return;
  for (llvm::User* user : llvm::to_vector(variable.users())) {
    auto* start = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    if (!start || start->getIntrinsicID() != llvm::Intrinsic::lifetime_start) continue;
    builder_.SetInsertPoint(start->getNextNode());
    begin(variable, own, begins_undefined);
  }
}

void UndefinedMemory::begin(llvm::AllocaInst& variable, const Variable& own, bool undefined) {
  if (undefined) clear(variable);
  builder_.CreateMemSet(own.bits, builder_.getInt8(undefined ? 0xff : 0), own.size, own.bits->getAlign());
  if (undefined) fill_gaps(variable.getAllocatedType(), own);
  if (!tells_) return;
  builder_.CreateMemSet(own.origins, builder_.getInt8(0), own.origins->getAllocationSize(layout_)->getFixedValue(),
                        own.origins->getAlign());
}

void UndefinedMemory::clear(llvm::AllocaInst& variable) {
  builder_.CreateMemSet(&variable, builder_.getInt8(0), variable.getAllocationSize(layout_)->getFixedValue(),
                        variable.getAlign());
}

// The bytes between members are nobody's, and count as written.
void UndefinedMemory::fill_gaps(llvm::Type* type, const Variable& own) {
  llvm::SmallVector<std::uint8_t, 64> mask(own.size, 0);
  mark_members(type, 0, mask);
  if (llvm::all_of(mask, [](std::uint8_t byte) { return byte != 0; })) return;
  llvm::Constant* bytes = llvm::ConstantDataArray::get(builder_.getContext(), llvm::ArrayRef<std::uint8_t>(mask));
  auto* constant =
      new llvm::GlobalVariable(*builder_.GetInsertBlock()->getModule(), bytes->getType(),
                               /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, bytes, "metalloid_members");
  builder_.CreateMemCpy(own.bits, own.bits->getAlign(), constant, llvm::Align(1), own.size);
}

void UndefinedMemory::mark_members(llvm::Type* type, std::uint64_t at, llvm::MutableArrayRef<std::uint8_t> mask) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    const llvm::StructLayout* places = layout_.getStructLayout(record);
    for (unsigned i = 0; i < record->getNumElements(); ++i) {
      mark_members(record->getElementType(i), at + places->getElementOffset(i), mask);
    }
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    const std::uint64_t stride = layout_.getTypeAllocSize(array->getElementType()).getFixedValue();
    for (std::uint64_t i = 0; i < array->getNumElements(); ++i) {
      mark_members(array->getElementType(), at + i * stride, mask);
    }
  } else {
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    for (std::uint64_t i = at; i < std::min<std::uint64_t>(at + bytes, mask.size()); ++i) mask[i] = 0xff;
  }
}

std::optional<ir::PointerRoots::Root> UndefinedMemory::describe(Value& root) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&root);
  const auto found = variable ? variables_.find(variable) : variables_.end();
  if (found == variables_.end()) return std::nullopt;
  const Variable& own = found->second;
  return ir::PointerRoots::Root{{own.bits, own.origins, builder_.getInt64(own.size)}};
}

std::optional<UndefinedMemory::Place> UndefinedMemory::place_of(Value* address, llvm::Type* type) {
  return place_of(address, builder_.getInt64(layout_.getTypeStoreSize(type).getFixedValue()));
}

// Where a copy of a struct became one of each member, they lie behind the check of the whole.
Value* UndefinedMemory::without_checks(Value* address) {
  address = unchecked(address);
  auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(address);
  if (!step) return address;
  Value* base = without_checks(step->getPointerOperand());
  if (base == step->getPointerOperand()) return address;
  auto* copy = llvm::cast<llvm::GetElementPtrInst>(step->clone());
  copy->setOperand(llvm::GetElementPtrInst::getPointerOperandIndex(), base);
  return builder_.Insert(copy, step->getName());
}

std::optional<UndefinedMemory::Place> UndefinedMemory::place_of(Value* address, Value* bytes) {
  address = without_checks(address);
  const auto variables = sources_.variables_of(address);
  if (variables.empty() || !llvm::all_of(variables, [&](auto* one) { return has(*one); })) return std::nullopt;
  const auto values = roots_.values_of(address);
  if (!values) return std::nullopt;
  Value *size = (*values)[2], *offset = roots_.offset_of(address);
  Value* room = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, bytes);
  Value* is_inside = builder_.CreateAnd(builder_.CreateICmpULE(offset, room), builder_.CreateICmpULE(bytes, size));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_inside); known && known->isZero()) return std::nullopt;
  offset = builder_.CreateSelect(is_inside, offset, builder_.getInt64(0));
  Place place{builder_.CreatePtrAdd((*values)[0], offset), nullptr,
              builder_.CreateSelect(is_inside, bytes, builder_.getInt64(0))};
  if (tells_) {
    Value* granule = builder_.CreateAnd(offset, ~(origin_bytes - 1));
    place.origins = builder_.CreatePtrAdd((*values)[1], granule);
  }
  return place;
}

// Types whose numbers fill their bytes lie in memory as their bits do.
llvm::Type* UndefinedMemory::stored_type(llvm::Type* type) {
  llvm::Type* bits = type_of_bits(type);
  if (type->isAggregateType()) return bits;
  const auto size = layout_.getTypeSizeInBits(bits), stored = layout_.getTypeStoreSizeInBits(bits);
  return size == stored ? bits : builder_.getIntNTy(static_cast<unsigned>(stored.getFixedValue()));
}

Value* UndefinedMemory::load_bits(llvm::Type* type, Value* place) {
  llvm::Type *bits = type_of_bits(type), *stored = stored_type(type);
  Value* loaded = builder_.CreateAlignedLoad(stored, place, llvm::Align(1));
  if (stored == bits) return loaded;
  const auto size = static_cast<unsigned>(layout_.getTypeSizeInBits(bits));
  return builder_.CreateBitCast(builder_.CreateTrunc(loaded, builder_.getIntNTy(size)), bits);
}

void UndefinedMemory::store_bits(llvm::Type* type, Value* bits, Value* place) {
  llvm::Type* stored = stored_type(type);
  if (stored != bits->getType()) {
    const auto size = static_cast<unsigned>(layout_.getTypeSizeInBits(bits->getType()));
    bits = builder_.CreateZExt(builder_.CreateBitCast(bits, builder_.getIntNTy(size)), stored);
  }
  builder_.CreateAlignedStore(bits, place, llvm::Align(1));
}

Value* UndefinedMemory::load_origin(const Place& place, std::uint64_t bytes, Value* own) {
  constexpr std::uint64_t most = 16;
  if (!tells_) return own;
  Value* origin = own;
  for (std::uint64_t i = std::min(origins_in(bytes), most); i-- > 0;) {
    Value* at = builder_.CreateConstGEP1_64(builder_.getInt32Ty(), place.origins, i);
    Value* next = builder_.CreateAlignedLoad(builder_.getInt32Ty(), at, llvm::Align(origin_bytes));
    origin = builder_.CreateSelect(builder_.CreateIsNull(next), origin, next);
  }
  return origin;
}

void UndefinedMemory::store_origin(Value* origin, const Place& place, std::uint64_t bytes) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(origin);
  if (!tells_ || (bytes < origin_bytes && known && known->isZero())) return;  // the neighbours may have one
  for (std::uint64_t i = 0; i < origins_in(bytes); ++i) {
    builder_.CreateAlignedStore(origin, builder_.CreateConstGEP1_64(builder_.getInt32Ty(), place.origins, i),
                                llvm::Align(origin_bytes));
  }
}

void UndefinedMemory::copy(const Place& from, const Place& to) {
  Value* length = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, from.bytes, to.bytes);
  builder_.CreateMemMove(to.bits, llvm::MaybeAlign(1), from.bits, llvm::MaybeAlign(1), length);
  if (!tells_) return;
  Value* rounded =
      builder_.CreateAnd(builder_.CreateAdd(length, builder_.getInt64(origin_bytes - 1)), ~(origin_bytes - 1));
  builder_.CreateMemMove(to.origins, llvm::Align(origin_bytes), from.origins, llvm::Align(origin_bytes), rounded);
}

void UndefinedMemory::set_written(const Place& place) {
  builder_.CreateMemSet(place.bits, builder_.getInt8(0), place.bytes, llvm::MaybeAlign(1));
}

void UndefinedMemory::set_written(llvm::AllocaInst& variable) {
  const auto found = variables_.find(&variable);
  if (found == variables_.end()) return;
  builder_.CreateMemSet(found->second.bits, builder_.getInt8(0), found->second.size, llvm::MaybeAlign(1));
}

}  // namespace metalloid::checker
