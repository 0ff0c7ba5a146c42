#include "engines/cuda/passes/lower_bounds_checks.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "engines/cuda/kernel_abi.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/lower_bounds_checks.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
using Group = llvm::SmallVector<llvm::CallInst*, 4>;

constexpr std::uint64_t most_elements = std::numeric_limits<std::uint32_t>::max();

// scale * index + further, none of which wraps.
struct ScaledIndex {
  Value* index;  // 32 bits
  bool is_signed = false;
  unsigned shift = 0;  // of the scale, a power of two
  std::uint64_t further = 0;
};

class Checks {
 public:
  Checks(llvm::Function& function, llvm::ScalarEvolution& evolution, Reports& reports)
      : function_(function), evolution_(evolution), expander_(evolution, "bounds"), reports_(reports) {}

  void run() {
    std::vector<Group> groups;
    for (llvm::BasicBlock& block : function_) find_groups(block, groups);
    std::vector<Value*> are_inside;
    for (const Group& group : groups) are_inside.push_back(ask(group));
    for (std::size_t i = 0; i < groups.size(); ++i) lower(groups[i], are_inside[i]);
  }

 private:
  // Parameters stay as they are, and everybody may read them.
  static bool is_of_parameters(const llvm::Instruction& instruction) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    return load && load->hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
           llvm::isa<llvm::Argument>(load->getPointerOperand()->stripInBoundsOffsets());
  }

  static void find_groups(llvm::BasicBlock& block, std::vector<Group>& groups) {
    bool is_open = false;
    for (llvm::Instruction& instruction : block) {
      if (llvm::CallInst* check = ir::as_bounds_check(instruction)) {
        if (!is_open) groups.emplace_back();
        groups.back().push_back(check);
        is_open = true;
      } else if ((instruction.mayReadOrWriteMemory() || instruction.mayHaveSideEffects()) &&
                 !is_of_parameters(instruction)) {
        is_open = false;
      }
    }
  }

  // In front of the last of them, where all operands are there.
  Value* ask(const Group& group) {
    llvm::IRBuilder<> builder(group.back());
    Value* all = nullptr;
    for (llvm::CallInst* check : group) {
      Value* inside = is_surely_inside(builder, *check);
      all = all ? builder.CreateAnd(all, inside) : inside;
    }
    return all;
  }

  Value* is_surely_inside(llvm::IRBuilder<>& builder, llvm::CallInst& check) {
    Value *offset = check.getArgOperand(0), *bytes = check.getArgOperand(1), *available = check.getArgOperand(2);
    const auto* size = llvm::dyn_cast<llvm::ConstantInt>(bytes);
    const auto slot = slot_of(*available);
    if (size && (slot || llvm::isa<llvm::ConstantInt>(available))) {
      if (const auto scaled = scaled_index(builder, *offset)) {
        if (Value* limit = limit_of(builder, *scaled, size->getZExtValue(), *available)) {
          return builder.CreateICmpULT(scaled->index, limit);
        }
      }
      if (slot && size->getZExtValue() <= most_access_bytes) {
        Value* starts = load(builder, *available, offsetof(ArgumentSlot, starts), builder.getInt64Ty());
        return builder.CreateICmpULT(offset, starts);
      }
    }
    return ir::is_inside(builder, offset, bytes, available);
  }

  std::optional<ScaledIndex> scaled_index(llvm::IRBuilder<>& builder, Value& offset) {
    using namespace llvm::PatternMatch;
    ScaledIndex found{.index = nullptr};
    constexpr std::uint64_t most_further = std::uint64_t{1} << 31;
    constexpr unsigned most_shift = 30;
    Value *whole = &offset, *inner = nullptr;
    const llvm::APInt* number = nullptr;
    for (bool changed = true; changed; whole = changed ? inner : whole) {
      changed = false;
      if (match(whole, m_c_Add(m_Value(inner), m_APInt(number))) && number->ult(most_further)) {
        const std::uint64_t further = found.further + (number->getZExtValue() << found.shift);
        changed = further < most_further;
        if (changed) found.further = further;
        continue;
      }
      unsigned shift = most_shift + 1;
      if (match(whole, m_Shl(m_Value(inner), m_APInt(number))) && number->ult(most_shift)) {
        shift = static_cast<unsigned>(number->getZExtValue());
      } else if (match(whole, m_c_Mul(m_Value(inner), m_Power2(number)))) {
        shift = number->logBase2();
      }
      changed = found.shift + shift <= most_shift;
      if (changed) found.shift += shift;
    }
    const bool is_wider = match(whole, m_ZExt(m_Value(inner))), is_signed = match(whole, m_SExt(m_Value(inner)));
    if ((is_wider || is_signed) && inner->getType()->getScalarSizeInBits() <= 32) {
      found.is_signed = is_signed && !evolution_.isKnownNonNegative(evolution_.getSCEV(inner));
      found.index = builder.CreateIntCast(inner, builder.getInt32Ty(), is_signed);
      return found;
    }
    const llvm::SCEV* wide = evolution_.getSCEV(whole);
    if (evolution_.getUnsignedRangeMax(wide).ugt(most_elements)) return std::nullopt;
    // In 32 bits from the start, but for counters of loops.
    const llvm::SCEV* narrow = evolution_.getTruncateExpr(wide, builder.getInt32Ty());
    llvm::Instruction* place = &*builder.GetInsertPoint();
    if (!evolution_.containsAddRecurrence(narrow) && expander_.isSafeToExpandAt(narrow, place)) {
      found.index = expander_.expandCodeFor(narrow, builder.getInt32Ty(), place);
    } else {
      found.index = builder.CreateTrunc(whole, builder.getInt32Ty());
    }
    return found;
  }

  // What the index of an access of `size` bytes is less than.
  Value* limit_of(llvm::IRBuilder<>& builder, const ScaledIndex& scaled, std::uint64_t size, Value& available) {
    const std::uint64_t behind = scaled.further + size, scale = std::uint64_t{1} << scaled.shift;
    constexpr std::uint64_t most_signed = std::uint64_t{1} << 31;
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(&available)) {
      const std::uint64_t bytes = known->getZExtValue();
      const std::uint64_t limit = bytes < behind ? 0 : (bytes - behind) / scale + 1;
      return builder.getInt32(
          static_cast<std::uint32_t>(std::min(limit, scaled.is_signed ? most_signed : most_elements)));
    }
    const std::uint64_t elements = (behind + scale - 1) / scale;
    if (elements > most_elements) return nullptr;
    const unsigned most_shift = std::size(ArgumentSlot{}.elements) - 1, shift = std::min(scaled.shift, most_shift);
    Value* limit = load(builder, available, offsetof(ArgumentSlot, elements) + shift * sizeof(std::uint32_t),
                        builder.getInt32Ty());
    if (scaled.shift > shift) limit = builder.CreateLShr(limit, scaled.shift - shift);
    if (elements > 1) {
      limit = builder.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, limit,
                                            builder.getInt32(static_cast<std::uint32_t>(elements - 1)));
    }
    if (scaled.is_signed) {
      limit = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, limit,
                                            builder.getInt32(static_cast<std::uint32_t>(most_signed)));
    }
    return limit;
  }

  // Where among the parameters the slot is whose bytes these are.
  std::optional<std::uint64_t> slot_of(const Value& available) const {
    const auto* read = llvm::dyn_cast<llvm::LoadInst>(&available);
    if (!read) return std::nullopt;
    llvm::APInt offset(64, 0);
    const Value* base = read->getPointerOperand()->stripAndAccumulateInBoundsConstantOffsets(
        function_.getParent()->getDataLayout(), offset);
    if (!llvm::isa<llvm::Argument>(base) || offset.ult(sizeof(LaunchHead))) return std::nullopt;
    const std::uint64_t behind = offset.getZExtValue() - sizeof(LaunchHead);
    if (behind % sizeof(ArgumentSlot) != offsetof(ArgumentSlot, bytes)) return std::nullopt;
    return offset.getZExtValue() - offsetof(ArgumentSlot, bytes);
  }

  Value* load(llvm::IRBuilder<>& builder, const Value& available, std::size_t member, llvm::Type* type) {
    const auto& read = llvm::cast<llvm::LoadInst>(available);
    Value* parameters = const_cast<Value*>(read.getPointerOperand()->stripInBoundsOffsets());
    Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), parameters, *slot_of(available) + member);
    llvm::LoadInst* loaded = builder.CreateAlignedLoad(type, place, llvm::Align(type->isIntegerTy(32) ? 4 : 8));
    loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
    return loaded;
  }

  void lower(const Group& group, Value* are_inside) {
    llvm::IRBuilder<> builder(group.back());
    llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
    llvm::Instruction* maybe = llvm::SplitBlockAndInsertIfThen(
        builder.CreateNot(are_inside), group.back()->getIterator(), /*Unreachable=*/false, unlikely);
    for (llvm::CallInst* check : group) {
      builder.SetInsertPoint(maybe);
      builder.SetCurrentDebugLocation(check->getDebugLoc());
      Value* front = builder.CreateLoad(builder.getInt64Ty(), check->getArgOperand(3));
      Value* inside = ir::is_inside(builder, builder.CreateAdd(check->getArgOperand(0), front), check->getArgOperand(1),
                                    builder.CreateAdd(check->getArgOperand(2), front));
      llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(builder.CreateNot(inside), maybe->getIterator(),
                                                               /*Unreachable=*/true, unlikely);
      builder.SetInsertPoint(end);
      reports_.write(builder, *check);
      end->eraseFromParent();
    }
    for (llvm::CallInst* check : group) check->eraseFromParent();
  }

  llvm::Function& function_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  Reports& reports_;
};

}  // namespace

void lower_bounds_checks(llvm::Module& module, Reports& reports) {
  llvm::Function* checks = module.getFunction(llvm::StringRef(ir::check_bounds_name));
  if (!checks) return;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    ir::PassManagers managers;
    Checks(function, managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function), reports).run();
  }
  checks->eraseFromParent();
}

}  // namespace metalloid::engines::cuda
