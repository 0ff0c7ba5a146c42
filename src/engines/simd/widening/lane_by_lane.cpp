// Instructions that have no form for lanes in step: once for each lane that takes part.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <string>
#include <utility>

#include "engines/simd/vectors/each_lane.h"
#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Instruction;
using llvm::Value;

Value* Widening::whole_of(Value* value, Value* lane) {
  if (shapes_.is_uniform(*value)) return scalar_of(value);
  Type* type = value->getType();
  if (!type->isVectorTy() && !type->isAggregateType()) return element_of(value, 0, lane);
  // Only vectors: structs are results of operations, and never operands of one.
  Value* whole = llvm::PoisonValue::get(type);
  for (unsigned p = 0; p < parts_of(type); ++p) {
    whole = builder_.CreateInsertElement(whole, element_of(value, p, lane), p);
  }
  return whole;
}

Value* Widening::element_of(Value* value, unsigned part, Value* lane) {
  return builder_.CreateExtractElement(vector_of(value, part), lane);
}

// Threadgroup memory belongs to one thread of the host: there, changes need not be atomic.
Value* Widening::copy_for_lane(Instruction& instruction, llvm::ArrayRef<Value*> operands) {
  if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
      change && change->getPointerAddressSpace() == threadgroup_space) {
    Value* old = builder_.CreateAlignedLoad(change->getType(), operands[0], change->getAlign());
    builder_.CreateAlignedStore(llvm::buildAtomicRMWValue(change->getOperation(), builder_, old, operands[1]),
                                operands[0], change->getAlign());
    return old;
  }
  Instruction* copy = instruction.clone();
  for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i]);
  return builder_.Insert(copy);
}

// Changes of threadgroup memory, one after the other without asking which: lanes that take no part change a place that
// nobody reads.
Widened Widening::change_threadgroup(llvm::AtomicRMWInst& change) {
  Value* addresses = vector_of(change.getPointerOperand());
  Value* operands = vector_of(change.getValOperand());
  remark("an atomic operation, by one lane after the other");
  if (lanes_) {
    Value* safe = builder_.CreateVectorSplat(width_, safe_address(change.getPointerOperand()->getType()));
    addresses = builder_.CreateSelect(lanes_, addresses, safe);
  }
  Value* result = llvm::PoisonValue::get(wide(change.getType()));
  for (unsigned lane = 0; lane < width_; ++lane) {
    Value* old = copy_for_lane(
        change, {builder_.CreateExtractElement(addresses, lane), builder_.CreateExtractElement(operands, lane)});
    if (!change.use_empty()) result = builder_.CreateInsertElement(result, old, lane);
  }
  Widened widened;
  widened.vectors.push_back(result);
  return widened;
}

void Widening::remark(std::string reason) { remarks_.add(builder_.getCurrentDebugLocation(), std::move(reason)); }

static std::string what_lanes_do(const Instruction& instruction) {
  if (instruction.isAtomic()) return "an atomic operation";
  if (llvm::isa<llvm::LoadInst>(instruction)) return "a load of a type that vectors cannot hold";
  if (llvm::isa<llvm::StoreInst>(instruction)) return "a store of a type that vectors cannot hold";
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? fmt::format("a call of {}", callee->getName().str())
                : fmt::format("an operation: {}", instruction.getOpcodeName());
}

Widened Widening::lane_by_lane(Instruction& instruction) {
  remark(what_lanes_do(instruction) + ", by one lane after the other");
  return once_for_each_lane(instruction);
}

Widened Widening::once_for_each_lane(Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const unsigned operand_count = call ? call->arg_size() : instruction.getNumOperands();
  // Vectors go to memory, where each lane finds its own.
  struct Operand {
    Value* uniform = nullptr;
    llvm::SmallVector<Value*, 4> memory;
  };
  llvm::SmallVector<Operand, 4> operands;
  for (unsigned i = 0; i < operand_count; ++i) {
    Value* value = instruction.getOperand(i);
    Operand operand;
    if (shapes_.is_uniform(*value)) {
      operand.uniform = scalar_of(value);
    } else {
      for (unsigned p = 0; p < parts_of(value->getType()); ++p) operand.memory.push_back(spill(vector_of(value, p)));
    }
    operands.push_back(operand);
  }
  Widened result;
  llvm::SmallVector<Value*, 4> results;
  const unsigned parts = instruction.getType()->isVoidTy() ? 0 : parts_of(instruction.getType());
  for (unsigned p = 0; p < parts; ++p) {
    llvm::IRBuilder<> start(entry_, entry_->begin());
    results.push_back(start.CreateAlloca(wide(part_type(instruction.getType(), p))));
  }
  for_each_lane(builder_, wide_, bits_of(lanes_), [&](Value* lane) {
    llvm::SmallVector<Value*, 4> own;
    for (unsigned i = 0; i < operand_count; ++i) {
      if (operands[i].uniform) {
        own.push_back(operands[i].uniform);
        continue;
      }
      Type* type = instruction.getOperand(i)->getType();
      Value* whole = type->isVectorTy() ? llvm::PoisonValue::get(type) : nullptr;
      for (unsigned p = 0; p < operands[i].memory.size(); ++p) {
        Type* element = part_type(type, p);
        Value* piece = load_element(builder_, element, operands[i].memory[p], lane, width_);
        whole = whole ? builder_.CreateInsertElement(whole, piece, p) : piece;
      }
      own.push_back(whole);
    }
    Value* value = copy_for_lane(instruction, own);
    for (unsigned p = 0; p < parts; ++p) {
      Type* type = instruction.getType();
      Value* piece = type->isStructTy()   ? builder_.CreateExtractValue(value, p)
                     : type->isVectorTy() ? builder_.CreateExtractElement(value, p)
                                          : value;
      store_element(builder_, piece, results[p], lane, width_);
    }
  });
  for (unsigned p = 0; p < parts; ++p) {
    Type* type = wide(part_type(instruction.getType(), p));
    result.vectors.push_back(builder_.CreateLoad(type, results[p]));
  }
  return result;
}

}  // namespace metalloid::engines::simd
