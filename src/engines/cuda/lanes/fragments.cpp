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

constexpr llvm::StringLiteral fragment_prefix = "metalloid_fragment.", columns_prefix = "metalloid_columns.",
                              float_prefix = "metalloid_float_fragment.";

// Of the first operand, which it says something of.
Value* create_mark(llvm::IRBuilderBase& builder, llvm::StringRef name, llvm::ArrayRef<Value*> operands) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::Type* type = operands.front()->getType();
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  const llvm::Type* element = type->getScalarType();
  const llvm::StringRef suffix = element->isFloatTy() ? "f32" : element->isHalfTy() ? "f16" : "bf16";
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

MatrixPlace place_in_matrix(llvm::IRBuilderBase& builder, Value* lane) {
  const auto bit = [&](unsigned from, unsigned to) {
    Value* own = builder.CreateAnd(builder.CreateLShr(lane, from), builder.getInt32(1));
    return builder.CreateShl(own, to);
  };
  Value* row = builder.CreateOr(bit(row_bits[2], 2), builder.CreateOr(bit(row_bits[1], 1), bit(row_bits[0], 0)));
  return {row, builder.CreateOr(bit(column_bits[1], 2), bit(column_bits[0], 1))};
}

bool is_fragment_load(const ir::Operation& operation) {
  const llvm::StringRef name = operation.name;
  const bool is_of_floats = name.contains("f16.") || name.contains("f32.");
  return operation.whole == "simdgroup_matrix.load" && name.ends_with(".threadgroup") && is_of_floats;
}

Value* load_fragment(const Lanes& lanes, llvm::Type& type, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& builder = lanes.builder();
  Value *base = operands[0], *stride = operands[1], *x = operands[2], *y = operands[3], *transposed = operands[4];
  llvm::Type* element = type.getScalarType();
  const auto wide = [&](Value* number) { return builder.CreateZExt(number, builder.getInt64Ty()); };
  const MatrixPlace own_place = place_in_matrix(builder, lanes.lane());
  Value *row = wide(own_place.row), *column = wide(own_place.column);
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
  if (!known) return elements;
  if (element->isFloatTy()) {
    Value* none = builder.getInt64(0);
    return create_mark(builder, float_prefix, {elements, place(none, none), stride, transposed});
  }
  if (lanes.order() != LaneOrder::of_matrices) return elements;
  Value* own = builder.CreateAnd(hardware_lane(builder, lanes.lane(), lanes.order()), lanes.number(7));
  return create_mark(builder, fragment_prefix, {elements, place(wide(own), builder.getInt64(0)), transposed});
}

std::optional<Fragment> as_fragment(Value& value) {
  llvm::CallInst* call = as_mark(value, fragment_prefix);
  return call ? std::optional(Fragment{call}) : std::nullopt;
}

std::optional<FloatFragment> as_float_fragment(Value& value) {
  llvm::CallInst* call = as_mark(value, float_prefix);
  return call ? std::optional(FloatFragment{call}) : std::nullopt;
}

namespace {

bool find_loads(Value& value, const llvm::BasicBlock& block, ElementLoads& loads) {
  if (llvm::isa<llvm::Constant>(value)) return llvm::isa<llvm::UndefValue>(value);
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction || instruction->getParent() != &block) return false;
  if (llvm::isa<llvm::InsertElementInst>(instruction)) {
    return find_loads(*instruction->getOperand(0), block, loads) &&
           find_loads(*instruction->getOperand(1), block, loads);
  }
  if (llvm::isa<llvm::BitCastInst>(instruction)) return find_loads(*instruction->getOperand(0), block, loads);
  auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
  if (!load || !load->isSimple()) return false;
  if (!loads.first || load->comesBefore(loads.first)) loads.first = load;
  if (!loads.last || loads.last->comesBefore(load)) loads.last = load;
  return true;
}

}  // namespace

std::optional<ElementLoads> loads_of(Value& elements, const llvm::BasicBlock& block) {
  ElementLoads loads;
  return find_loads(elements, block, loads) && loads.first ? std::optional(loads) : std::nullopt;
}

Value* mark_by_columns(llvm::IRBuilderBase& builder, Value* elements) {
  return create_mark(builder, columns_prefix, {elements});
}

Value* as_by_columns(Value& value) {
  llvm::CallInst* call = as_mark(value, columns_prefix);
  return call ? call->getArgOperand(0) : nullptr;
}

}  // namespace metalloid::engines::cuda
