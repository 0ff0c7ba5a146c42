#include "engines/cuda/lanes/fragments.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <cstdint>

#include "engines/cuda/lanes/places.h"

namespace metalloid::engines::cuda {

using llvm::Value;

namespace {

constexpr llvm::StringLiteral fragment_prefix = "metalloid_fragment.", columns_prefix = "metalloid_columns.";

// Of the first operand, which it says something of.
Value* create_mark(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::ArrayRef<Value*> operands) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Type* type = operands.front()->getType();
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  const llvm::StringRef suffix = type->getScalarType()->isHalfTy() ? "f16" : "bf16";
  auto callee =
      module.getOrInsertFunction((name + suffix).str(), llvm::FunctionType::get(type, types, /*isVarArg=*/false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::none());
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::NoCallback}) {
    function->addFnAttr(attribute);
  }
  return builder.CreateCall(callee, operands);
}

llvm::CallInst* as_mark(Value& value, llvm::StringRef name) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(name) ? call : nullptr;
}

}  // namespace

bool is_fragment_load(const ir::Operation& operation) {
  const llvm::StringRef name = operation.name;
  return operation.whole == "simdgroup_matrix.load" && name.ends_with(".threadgroup") && name.contains("f16.");
}

Value* load_fragment(const Lanes& lanes, llvm::Type& type, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& builder = lanes.builder();
  Value *base = operands[0], *stride = operands[1], *x = operands[2], *y = operands[3], *transposed = operands[4];
  llvm::Type* element = type.getScalarType();
  const auto wide = [&](Value* number) { return builder.CreateZExt(number, builder.getInt64Ty()); };
  const auto bit = [&](unsigned from, unsigned to) {
    Value* own = builder.CreateAnd(builder.CreateLShr(lanes.lane(), from), lanes.number(1));
    return builder.CreateShl(own, to);
  };
  Value* row = builder.CreateOr(bit(row_bits[2], 2), builder.CreateOr(bit(row_bits[1], 1), bit(row_bits[0], 0)));
  Value* column = builder.CreateOr(bit(column_bits[1], 2), bit(column_bits[0], 1));
  row = wide(row);
  column = wide(column);
  const auto place = [&](Value* down, Value* across) {
    Value* rows = builder.CreateMul(builder.CreateAdd(y, down), stride);
    return builder.CreateGEP(element, base, builder.CreateAdd(rows, builder.CreateAdd(x, across)));
  };
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(transposed);
  const auto address_of = [&](std::uint64_t part) {
    Value* next = builder.CreateAdd(column, builder.getInt64(part));
    if (known) return known->isOne() ? place(next, row) : place(row, next);
    return builder.CreateSelect(transposed, place(next, row), place(row, next));
  };
  Value* elements = llvm::PoisonValue::get(&type);
  for (std::uint64_t part = 0; part < 2; ++part) {
    const llvm::Align alignment(element->getPrimitiveSizeInBits() / 8);
    elements =
        builder.CreateInsertElement(elements, builder.CreateAlignedLoad(element, address_of(part), alignment), part);
  }
  if (lanes.order() != LaneOrder::of_matrices || !known) return elements;
  Value* own = builder.CreateAnd(hardware_lane(builder, lanes.lane(), lanes.order()), lanes.number(7));
  return create_mark(builder, fragment_prefix, {elements, place(wide(own), builder.getInt64(0)), transposed});
}

std::optional<Fragment> as_fragment(Value& value) {
  llvm::CallInst* call = as_mark(value, fragment_prefix);
  return call ? std::optional(Fragment{call}) : std::nullopt;
}

Value* mark_by_columns(llvm::IRBuilderBase& builder, Value* elements) {
  return create_mark(builder, columns_prefix, {elements});
}

Value* as_by_columns(Value& value) {
  llvm::CallInst* call = as_mark(value, columns_prefix);
  return call ? call->getArgOperand(0) : nullptr;
}

}  // namespace metalloid::engines::cuda
