#include "engines/cuda/passes/thread_path.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <cstdlib>

#include "ir/bounds/check_bounds.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// Larger ones are no distance in memory.
constexpr std::int64_t largest_difference = std::int64_t{1} << 20;

class Walk {
 public:
  bool run(llvm::Function& entry) {
    llvm::BasicBlock* block = &entry.getEntryBlock();
    while (block) {
      llvm::BasicBlock* next = nullptr;
      if (!take(*block) || !leave(*block, next)) return false;
      block = next;
    }
    return true;
  }

  bool run_turn(const llvm::Loop& loop) {
    for (llvm::PHINode& phi : loop.getHeader()->phis()) chosen_.insert(&phi);
    return take(*loop.getHeader()) && take(*loop.getLoopLatch());
  }

  std::vector<Step> path;

 private:
  static bool only_computes(const llvm::Instruction& instruction) {
    if (instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects()) return false;
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      return !call->isConvergent() && !call->hasOperandBundles();
    }
    return !llvm::isa<llvm::AllocaInst, llvm::PHINode>(instruction) && !instruction.isTerminator();
  }

  // Of the launch's parameters, which nobody writes.
  static bool is_parameter(const llvm::LoadInst& load) {
    return load.hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
           load.getPointerOperand()->stripInBoundsConstantOffsets() == load.getFunction()->getArg(0);
  }

  // All but phis and the end.
  bool take(llvm::BasicBlock& block) {
    for (llvm::Instruction& instruction : block) {
      if (instruction.isTerminator()) break;
      if (llvm::isa<llvm::PHINode>(instruction)) {
        if (!chosen_.contains(&instruction)) return false;
      } else if (ir::as_bounds_check(instruction)) {
        path.push_back({Step::Kind::check, &instruction});
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && load->isSimple()) {
        path.push_back({is_parameter(*load) ? Step::Kind::value : Step::Kind::load, load});
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple()) {
        path.push_back({Step::Kind::store, store});
      } else if (only_computes(instruction)) {
        path.push_back({Step::Kind::value, &instruction});
      } else if (!llvm::isa<llvm::AssumeInst, llvm::NoAliasScopeDeclInst>(instruction)) {
        return false;
      }
    }
    return true;
  }

  static bool is_end(const llvm::BasicBlock* block) {
    for (int i = 0; i < 4; ++i) {
      const llvm::Instruction* first = &block->front();
      if (llvm::isa<llvm::ReturnInst>(first)) return true;
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(first);
      if (!branch || branch->isConditional()) return false;
      block = branch->getSuccessor(0);
    }
    return false;
  }

  // The block behind an arm that only computes, or null.
  static llvm::BasicBlock* behind_arm(const llvm::BasicBlock& arm) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(arm.getTerminator());
    if (!branch || branch->isConditional() || !arm.getSinglePredecessor()) return nullptr;
    const bool is_safe = llvm::all_of(arm, [&](const llvm::Instruction& instruction) {
      return instruction.isTerminator() ||
             (only_computes(instruction) && llvm::isSafeToSpeculativelyExecute(&instruction));
    });
    return is_safe ? branch->getSuccessor(0) : nullptr;
  }

  bool leave(llvm::BasicBlock& block, llvm::BasicBlock*& next) {
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return true;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch) return false;
    llvm::BasicBlock* first = branch->getSuccessor(0);
    if (branch->isUnconditional()) return go_on(first, next);
    llvm::BasicBlock* second = branch->getSuccessor(1);
    if (is_end(first) && is_end(second)) return true;
    if (is_end(first) != is_end(second)) {
      const bool goes_first = is_end(second);
      path.push_back({Step::Kind::guard, branch, branch->getCondition(), goes_first});
      return go_on(goes_first ? first : second, next);
    }
    return choose(*branch, next);
  }

  static bool go_on(llvm::BasicBlock* block, llvm::BasicBlock*& next) {
    if (is_end(block)) return true;
    next = block;
    return block->getSinglePredecessor() != nullptr;
  }

  // Two arms, or one, that meet again.
  bool choose(llvm::BranchInst& branch, llvm::BasicBlock*& next) {
    llvm::BasicBlock *first = branch.getSuccessor(0), *second = branch.getSuccessor(1);
    llvm::BasicBlock *behind_first = behind_arm(*first), *behind_second = behind_arm(*second);
    llvm::BasicBlock *from_first = branch.getParent(), *from_second = from_first;
    if (behind_first && behind_first == behind_second) {
      next = behind_first, from_first = first, from_second = second;
    } else if (behind_first == second) {
      next = second, from_first = first;
    } else if (behind_second == first) {
      next = first, from_second = second;
    } else {
      return false;
    }
    if (!next->hasNPredecessors(2) || from_first == from_second) return false;
    for (llvm::BasicBlock* arm : {from_first, from_second}) {
      if (arm != branch.getParent() && !take(*arm)) return false;
    }
    for (llvm::PHINode& phi : next->phis()) {
      chosen_.insert(&phi);
      path.push_back({Step::Kind::choice, &phi, branch.getCondition(), true, phi.getIncomingValueForBlock(from_first),
                      phi.getIncomingValueForBlock(from_second)});
    }
    return true;
  }

  llvm::SmallPtrSet<llvm::Instruction*, 8> chosen_;
};

bool fits(std::optional<std::int64_t> by) { return by && std::llabs(*by) < largest_difference; }

}  // namespace

std::optional<std::vector<Step>> path_of(llvm::Function& entry) {
  Walk walk;
  if (!walk.run(entry)) return std::nullopt;
  return std::move(walk.path);
}

std::optional<std::vector<Step>> path_of_turn(const llvm::Loop& loop) {
  Walk walk;
  if (!walk.run_turn(loop)) return std::nullopt;
  return std::move(walk.path);
}

Differences::Differences(const std::vector<Step>& path, llvm::CallInst& thread_x, std::size_t nominal)
    : index_(thread_x), nominal_(nominal) {
  follow(path);
}

Differences::Differences(const std::vector<Step>& path, llvm::PHINode& counter, const llvm::Loop& loop)
    : index_(counter), loop_(&loop) {
  known_[&counter] = {false, 1, true, true};
  follow(path);
}

void Differences::follow(const std::vector<Step>& path) {
  for (const Step& step : path) {
    if (step.kind == Step::Kind::choice) {
      const bool is_same = of(step.condition).is_same && of(step.if_true).is_same && of(step.if_false).is_same;
      known_[step.instruction] = is_same ? of(llvm::UndefValue::get(step.instruction->getType())) : Difference{};
    } else if (step.kind == Step::Kind::value || step.kind == Step::Kind::load) {
      Difference difference = of_instruction(*step.instruction);
      if (!fits(difference.by)) difference.by.reset();
      known_[step.instruction] = difference;
    }
  }
}

Difference Differences::of(Value* value) const {
  if (llvm::isa<llvm::Constant, llvm::Argument>(value)) return {true, 0, true, true};
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  const bool is_outside = loop_ && instruction && !loop_->contains(instruction);
  return is_outside ? Difference{true, 0, true, true} : Difference{};
}

Condition Differences::condition_of(llvm::Instruction* instruction) const {
  const auto found = conditions_.find(instruction);
  return found == conditions_.end() ? Condition::none : found->second;
}

bool Differences::is_row(llvm::Instruction* access) const {
  const llvm::DataLayout& layout = access->getDataLayout();
  llvm::Type* type = llvm::getLoadStoreType(access);
  if (!type->isIntOrIntVectorTy() && !type->isFPOrFPVectorTy()) return false;
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  const Difference address = of(llvm::getLoadStorePointerOperand(access));
  return 8 * bytes == layout.getTypeSizeInBits(type).getFixedValue() && llvm::isPowerOf2_64(bytes) && address.by &&
         *address.by == static_cast<std::int64_t>(bytes);
}

bool Differences::is_nominal_size(const Value* value) const {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load) return false;
  llvm::APInt offset(64, 0);
  const Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(load->getDataLayout(), offset,
                                                                                   /*AllowNonInbounds=*/true);
  return base == load->getFunction()->getArg(0) && offset == nominal_;
}

Difference Differences::of_extension(llvm::CastInst& cast) {
  const Difference from = of(cast.getOperand(0));
  if (!from.by) return {};
  const bool is_signed = llvm::isa<llvm::SExtInst>(cast);
  const bool is_sure =
      is_signed ? from.is_exact_signed : from.is_exact_unsigned || (cast.hasNonNeg() && from.is_exact_signed);
  if (is_sure) return {false, from.by, !is_signed, true};
  if (*from.by <= 0) return {};
  conditions_[&cast] = is_signed ? Condition::signed_room : Condition::unsigned_room;
  return {false, from.by, !is_signed, true};
}

Difference Differences::of_address(llvm::GetElementPtrInst& address) const {
  const llvm::DataLayout& layout = address.getDataLayout();
  if (address.getType()->isVectorTy()) return {};
  std::optional<std::int64_t> by = of(address.getPointerOperand()).by;
  for (auto type = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); by && type != end; ++type) {
    const Difference index = of(type.getOperand());
    if (!index.is_same && (type.isStruct() || !type.getOperand()->getType()->isIntegerTy(64))) return {};
    if (!fits(index.by)) return {};
    if (*index.by != 0) {
      *by += *index.by * static_cast<std::int64_t>(type.getSequentialElementStride(layout).getFixedValue());
    }
  }
  return {false, by};
}

Difference Differences::of_instruction(llvm::Instruction& instruction) {
  if (&instruction == &index_) return {false, 1, true, true};
  // The threadgroup's place: of threads of one, the same.
  if (!loop_ && instruction.getOpcode() == llvm::Instruction::UDiv && instruction.getOperand(0) == &index_ &&
      is_nominal_size(instruction.getOperand(1))) {
    conditions_[&instruction] = Condition::same_threadgroup;
    return {true, 0, true, true};
  }
  auto operands = llvm::isa<llvm::CallInst>(instruction)
                      ? llvm::cast<llvm::CallInst>(instruction).args()
                      : llvm::iterator_range<llvm::User::op_iterator>(instruction.operands());
  if (llvm::all_of(operands, [&](Value* operand) { return of(operand).is_same; })) return {true, 0, true, true};
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return of_address(*address);
  if (llvm::isa<llvm::ZExtInst, llvm::SExtInst>(instruction)) {
    return of_extension(llvm::cast<llvm::CastInst>(instruction));
  }
  if (llvm::isa<llvm::AddrSpaceCastInst, llvm::FreezeInst>(instruction)) return of(instruction.getOperand(0));
  if (llvm::isa<llvm::TruncInst>(instruction)) return {false, of(instruction.getOperand(0)).by};
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  if (!binary || !binary->getType()->isIntegerTy() || binary->getType()->getIntegerBitWidth() < 32) return {};

  const Difference a = of(binary->getOperand(0)), b = of(binary->getOperand(1));
  if (!a.by || !b.by) return {};
  const auto* wrapping = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(binary);
  const auto* disjoint = llvm::dyn_cast<llvm::PossiblyDisjointInst>(binary);
  const bool never_carries = disjoint && disjoint->isDisjoint();
  Difference result = {
      false, std::nullopt,
      a.is_exact_unsigned && b.is_exact_unsigned && (never_carries || (wrapping && wrapping->hasNoUnsignedWrap())),
      a.is_exact_signed && b.is_exact_signed && (never_carries || (wrapping && wrapping->hasNoSignedWrap()))};
  const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(binary->getOperand(1));
  const bool is_small = factor && factor->getValue().abs().ult(largest_difference);
  switch (binary->getOpcode()) {
    case llvm::Instruction::Or:
      if (never_carries) result.by = *a.by + *b.by;
      break;
    case llvm::Instruction::Add: result.by = *a.by + *b.by; break;
    case llvm::Instruction::Sub: result.by = *a.by - *b.by; break;
    case llvm::Instruction::Mul:
      if (is_small) result.by = *a.by * factor->getSExtValue();
      if (is_small && factor->isNegative()) result.is_exact_unsigned = false;
      break;
    case llvm::Instruction::Shl:
      if (is_small && factor->getValue().ult(20)) result.by = *a.by * (std::int64_t{1} << factor->getZExtValue());
      break;
    default: break;
  }
  return result;
}

}  // namespace metalloid::engines::cuda
