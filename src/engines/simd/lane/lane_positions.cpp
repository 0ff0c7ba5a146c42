#include "engines/simd/lane/lane_positions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/simd/shapes/lane_target.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

bool is_sum(const llvm::BinaryOperator& operation) {
  const auto* both = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&operation);
  return operation.getOpcode() == llvm::Instruction::Add || (both && both->isDisjoint());
}

// Kernels take their simdgroup and lane out of their index: (start + lane) / 32 and (start + lane) % 32, where start is
// a multiple of 32, or of what is left of it: LLVM makes (start + lane) >> 2 & 8 of (start + lane) / 32 % 2 * 8. And of
// their index in turns of a loop that are written out: start + lane + 128. Those who ask for a ushort have it of their
// index's lower half.
void fold_parts(Value& sum, Value& start, Value& number, unsigned width) {
  for (llvm::User* user : llvm::make_early_inc_range(sum.users())) {
    if (auto* half = llvm::dyn_cast<llvm::TruncInst>(user); half && half->getType()->isIntegerTy(16) && width <= 256) {
      llvm::IRBuilder<> builder(half);
      fold_parts(*half, *builder.CreateTrunc(&start, half->getType()), *builder.CreateTrunc(&number, half->getType()),
                 width);
      continue;
    }
    auto* part = llvm::dyn_cast<llvm::BinaryOperator>(user);
    auto* constant = part ? llvm::dyn_cast<llvm::ConstantInt>(part->getOperand(1)) : nullptr;
    if (!constant || part->getOperand(0) != &sum || constant->getBitWidth() > 32) continue;
    const auto operand = static_cast<std::uint32_t>(constant->getZExtValue());
    const unsigned bits = constant->getBitWidth();
    llvm::IRBuilder<> builder(part);
    Value* folded = nullptr;
    if (part->getOpcode() == llvm::Instruction::LShr && operand < bits && width >> operand <= 1) {
      folded = builder.CreateLShr(&start, operand);
    } else if (part->getOpcode() == llvm::Instruction::LShr && operand < bits && !part->use_empty()) {
      fold_parts(*part, *builder.CreateLShr(&start, operand), *builder.CreateLShr(&number, operand), width >> operand);
    } else if (part->getOpcode() == llvm::Instruction::Shl && operand <= 3 && !part->use_empty()) {
      fold_parts(*part, *builder.CreateShl(&start, operand), *builder.CreateShl(&number, operand), width << operand);
    } else if (is_sum(*part) && operand % width == 0) {
      fold_parts(*part, *builder.CreateAdd(&start, constant), number, width);
    } else if (part->getOpcode() == llvm::Instruction::And && operand < width) {
      folded = operand == width - 1 ? &number : builder.CreateAnd(&number, constant);
    } else if (part->getOpcode() == llvm::Instruction::And && operand % width == width - 1) {
      folded = builder.CreateAdd(builder.CreateAnd(&start, constant), &number, "", /*HasNUW=*/true);
    } else if (part->getOpcode() == llvm::Instruction::And && operand % width == 0) {
      folded = builder.CreateAnd(&start, constant);
    }
    if (!folded) continue;
    part->replaceAllUsesWith(folded);
    part->eraseFromParent();
  }
}

}  // namespace

bool asks_for_rows(const llvm::Function& lane) {
  for (const unsigned dimension : {1u, 2u}) {
    const llvm::Function* question = lane.getParent()->getFunction(llvm::StringRef(cpu::position_names[dimension]));
    if (question && !question->use_empty()) return true;
  }
  return false;
}

llvm::Function& copy_for_rows(llvm::Function& lane) {
  llvm::SmallVector<llvm::Type*, 5> parameters(lane.getFunctionType()->params());
  parameters.append(3, llvm::Type::getInt32Ty(lane.getContext()));
  auto* type = llvm::FunctionType::get(lane.getReturnType(), parameters, false);
  llvm::Function* copy = llvm::Function::Create(type, lane.getLinkage(), "row", lane.getParent());
  llvm::ValueToValueMapTy map;
  for (llvm::Argument& argument : lane.args()) map[&argument] = copy->getArg(argument.getArgNo());
  llvm::SmallVector<llvm::ReturnInst*, 1> returns;
  llvm::CloneFunctionInto(copy, &lane, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  return *copy;
}

void place_lanes(llvm::Function& lane, Arrangement arrangement) {
  llvm::BasicBlock& first_block = lane.getEntryBlock();
  llvm::IRBuilder<> builder(&first_block, first_block.getFirstNonPHIOrDbgOrAlloca());
  auto callee = lane.getParent()->getOrInsertFunction(llvm::StringRef(lane_number_name), builder.getInt32Ty());
  llvm::cast<llvm::Function>(callee.getCallee())->setMemoryEffects(llvm::MemoryEffects::none());
  const auto extent = [&](std::size_t dimension) {
    Value* place = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), lane.getArg(0),
        offsetof(cpu::ThreadgroupState, threads_per_threadgroup) + dimension * sizeof(std::uint32_t));
    return builder.CreateLoad(builder.getInt32Ty(), place);
  };
  const bool is_alone = arrangement == Arrangement::alone;
  Value* none = builder.getInt32(0);
  Value* number = is_alone ? none : builder.CreateCall(callee);
  // Multiples of the width, which LLVM can see.
  const unsigned lanes = step_width(lane);
  const auto whole = [&](Value* start) { return builder.CreateAnd(start, ~std::uint64_t{lanes - 1}); };
  Value* first = whole(lane.getArg(1));
  Value *width = extent(0), *height = extent(1);
  Value* index = is_alone ? none : builder.CreateAdd(first, number, "", /*HasNUW=*/true, /*HasNSW=*/true);
  std::array<Value*, 3> position;
  const auto place_rows = [&](Value* rows) {
    position[1] = builder.CreateURem(rows, height);
    position[2] = builder.CreateUDiv(rows, height);
  };
  Value* start_of_row = nullptr;
  switch (arrangement) {
    case Arrangement::row:
      start_of_row = whole(lane.getArg(2));
      position[0] = builder.CreateAdd(start_of_row, number, "", /*HasNUW=*/true, /*HasNSW=*/true);
      position[1] = lane.getArg(3);
      position[2] = lane.getArg(4);
      break;
    case Arrangement::half_rows:
      position[0] = builder.CreateAnd(number, 15);
      place_rows(builder.CreateLShr(first, 4));
      position[1] = builder.CreateAdd(position[1], builder.CreateLShr(number, 4), "", /*HasNUW=*/true, /*HasNSW=*/true);
      break;
    case Arrangement::column:
      start_of_row = whole(builder.CreateURem(first, height));
      position[0] = none;
      position[1] = builder.CreateAdd(start_of_row, number, "", /*HasNUW=*/true, /*HasNSW=*/true);
      position[2] = builder.CreateUDiv(first, height);
      break;
    case Arrangement::anywhere:
      position[0] = builder.CreateURem(index, width);
      place_rows(builder.CreateUDiv(index, width));
      break;
    case Arrangement::alone: position = {none, none, none}; break;
  }
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* asked = call ? call->getCalledFunction() : nullptr;
    if (!asked) continue;
    const std::string_view name = asked->getName();
    Value* answer = name == cpu::index_name ? index : nullptr;
    for (unsigned d = 0; d < 3; ++d) {
      if (name == cpu::position_names[d]) answer = position[d];
    }
    if (!answer) continue;
    call->replaceAllUsesWith(answer);
    call->eraseFromParent();
  }
  if (!is_alone) fold_parts(*index, *first, *number, lanes);
  if (start_of_row) fold_parts(*position[arrangement == Arrangement::column ? 1 : 0], *start_of_row, *number, lanes);
}

}  // namespace metalloid::engines::simd
