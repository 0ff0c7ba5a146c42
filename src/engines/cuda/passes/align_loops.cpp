#include "engines/cuda/passes/align_loops.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engines/cuda/passes/fork_by_alignment.h"
#include "ir/bounds/check_bounds.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::SCEV;
using llvm::Value;

// Loads of memory that lies together, in order.
struct Neighbours {
  struct Part {
    llvm::LoadInst* load;
    std::int64_t offset;  // from the first one
  };
  llvm::SmallVector<Part, 8> parts;
  llvm::Align wanted;  // of the first one
};

bool is_of_thread(const Value& value, unsigned depth = 12) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
  if (!instruction) return false;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(instruction)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z:
      case llvm::Intrinsic::nvvm_read_ptx_sreg_laneid: return true;
      default: break;
    }
  }
  if (depth == 0) return true;
  return llvm::any_of(instruction->operands(), [&](const llvm::Use& use) { return is_of_thread(*use, depth - 1); });
}

constexpr std::uint64_t lanes_of_simdgroup = 32;

// Whether lanes of a simdgroup differ in it.
bool varies(const SCEV* value) {
  if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(value)) return is_of_thread(*unknown->getValue());
  if (const auto* quotient = llvm::dyn_cast<llvm::SCEVUDivExpr>(value)) {
    const auto* by = llvm::dyn_cast<llvm::SCEVConstant>(quotient->getRHS());
    if (by && by->getAPInt().urem(lanes_of_simdgroup) == 0) return false;  // a simdgroup's number
  }
  return llvm::any_of(value->operands(), varies);
}

class LoopAlignment {
 public:
  LoopAlignment(llvm::Loop& loop, llvm::FunctionAnalysisManager& analyses, llvm::Function& function)
      : loop_(loop),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        expander_(evolution_, "aligned") {}

  // The header of the loop's other form; null if it stays as it is.
  llvm::BasicBlock* run() {
    if (!loop_.isLoopSimplifyForm() || !loop_.isSafeToClone()) return nullptr;
    std::vector<llvm::LoadInst*> loads;
    std::size_t instructions = 0;
    for (llvm::BasicBlock* block : loop_.blocks()) {
      for (llvm::Instruction& instruction : *block) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (ir::as_bounds_check(instruction) || (call && call->isConvergent())) return nullptr;
        if (++instructions > most_instructions) return nullptr;
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (load && load->isSimple() && load->hasMetadata(llvm::LLVMContext::MD_invariant_load) && size_of(*load) != 0)
          loads.push_back(load);
      }
    }
    if (loads.empty() || loads.size() > most_loads) return nullptr;
    find_neighbours(loads);
    if (neighbours_.empty()) return nullptr;
    return fork();
  }

 private:
  // Of loops that are worth a second form, and loads of which neighbours are looked for.
  static constexpr std::size_t most_instructions = 1000, most_loads = 128;
  static constexpr unsigned any_zeros = 32;

  // In bytes; 0 for what is wider than an access can be, or no number.
  std::uint64_t size_of(const llvm::LoadInst& load) const {
    const llvm::DataLayout& layout = load.getModule()->getDataLayout();
    llvm::Type* type = load.getType();
    const std::uint64_t size = layout.getTypeStoreSize(type).getFixedValue();
    const bool is_number = type->isIntOrIntVectorTy() || type->isFPOrFPVectorTy();
    return is_number && layout.getTypeSizeInBits(type) == 8 * size && llvm::has_single_bit(size) &&
                   size <= widest_access.value()
               ? size
               : 0;
  }

  void find_neighbours(const std::vector<llvm::LoadInst*>& loads) {
    std::vector<Neighbours> around;  // what is a constant apart
    for (llvm::LoadInst* load : loads) {
      const SCEV* place = evolution_.getSCEV(load->getPointerOperand());
      const auto found = llvm::find_if(around, [&](Neighbours& group) {
        llvm::LoadInst* first = group.parts.front().load;
        if (first->getParent() != load->getParent() || size_of(*first) != size_of(*load)) return false;
        const SCEV* leader = evolution_.getSCEV(first->getPointerOperand());
        if (leader->getType() != place->getType()) return false;
        const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(place, leader));
        if (!distance || distance->getAPInt().getSignificantBits() > 31) return false;
        group.parts.push_back({load, distance->getAPInt().getSExtValue()});
        return true;
      });
      if (found == around.end()) around.push_back({{{load, 0}}, llvm::Align()});
    }
    for (Neighbours& group : around) {
      llvm::stable_sort(group.parts, [](const auto& one, const auto& other) { return one.offset < other.offset; });
      divide(group);
    }
  }

  // Into pieces without gaps.
  void divide(const Neighbours& group) {
    const auto size = static_cast<std::int64_t>(size_of(*group.parts.front().load));
    for (auto from = group.parts.begin(); from != group.parts.end();) {
      auto to = std::next(from);
      while (to != group.parts.end() && to->offset - std::prev(to)->offset <= size &&
             (to->offset - from->offset) % size == 0)
        ++to;
      Neighbours piece;
      for (const auto& part : llvm::make_range(from, to))
        piece.parts.push_back({part.load, part.offset - from->offset});
      note(piece, static_cast<std::uint64_t>(piece.parts.back().offset + size), static_cast<std::uint64_t>(size));
      from = to;
    }
  }

  void note(Neighbours& piece, std::uint64_t bytes, std::uint64_t size) {
    const auto* place =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(piece.parts.front().load->getPointerOperand()));
    if (!place || place->getLoop() != &loop_ || !place->isAffine()) return;
    const SCEV *start = place->getStart(), *step = place->getStepRecurrence(evolution_);
    const unsigned zeros = std::min(zeros_of_lanes(start), zeros_of_lanes(step));
    const std::uint64_t most = std::uint64_t{1} << std::min(zeros, 4U);
    piece.wanted = llvm::Align(std::min({llvm::bit_floor(bytes), most, widest_access.value()}));
    const llvm::Align claimed = std::min(piece.parts.front().load->getAlign(), widest_access);
    if (piece.wanted.value() < 2 * size) {
      // At least as its type says, if that is not sure.
      if (claimed.value() > most || evolution_.getMinTrailingZeros(place) >= llvm::Log2(claimed)) return;
      piece.wanted = claimed;
    }
    llvm::Instruction* front = loop_.getLoopPreheader()->getTerminator();
    for (const SCEV* part : {start, step}) {
      if (!evolution_.isLoopInvariant(part, &loop_) || !expander_.isSafeToExpandAt(part, front)) return;
    }
    neighbours_.push_back(piece);
  }

  // Of the part of a number in which lanes differ: how many of the lowest bits are zeros.
  unsigned zeros_of_lanes(const SCEV* value) {
    if (!varies(value)) return any_zeros;
    if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value)) {
      unsigned least = any_zeros;
      for (const SCEV* operand : sum->operands()) least = std::min(least, zeros_of_lanes(operand));
      return least;
    }
    if (llvm::isa<llvm::SCEVZeroExtendExpr, llvm::SCEVSignExtendExpr>(value)) {
      return zeros_of_lanes(value->operands().front());
    }
    if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(value); product && product->getNumOperands() == 2) {
      return std::min(any_zeros,
                      evolution_.getMinTrailingZeros(product->getOperand(0)) + zeros_of_lanes(product->getOperand(1)));
    }
    return std::min(any_zeros, evolution_.getMinTrailingZeros(value));
  }

  static void align(llvm::LoadInst& load, llvm::Align alignment) {
    load.setAlignment(alignment);
    note_aligned(load);
  }

  llvm::BasicBlock* fork() {
    llvm::BasicBlock* before = loop_.getLoopPreheader();
    llvm::Instruction* place = before->getTerminator();
    llvm::IRBuilder<> builder(place);
    Value* rest = nullptr;
    for (const Neighbours& piece : neighbours_) {
      const auto* first =
          llvm::cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(piece.parts.front().load->getPointerOperand()));
      for (const SCEV* part : {first->getStart(), first->getStepRecurrence(evolution_)}) {
        if (evolution_.getMinTrailingZeros(part) >= llvm::Log2(piece.wanted)) continue;
        Value* number = expander_.expandCodeFor(part, part->getType(), place);
        if (number->getType()->isPointerTy()) number = builder.CreatePtrToInt(number, builder.getInt64Ty());
        number = builder.CreateAnd(builder.CreateZExtOrTrunc(number, builder.getInt32Ty()),
                                   builder.getInt32(static_cast<std::uint32_t>(piece.wanted.value() - 1)));
        rest = rest ? builder.CreateOr(rest, number) : number;
      }
    }
    llvm::ValueToValueMapTy values;
    llvm::Loop* aligned = nullptr;
    if (rest) {
      Value* is_aligned = builder.CreateICmpEQ(rest, builder.getInt32(0));
      llvm::BasicBlock* own = llvm::SplitBlock(before, place, &dominators_, &loops_);
      aligned = ir::copy_loop(loop_, own, before, ".aligned", values, loops_, dominators_);
      llvm::Instruction* end = before->getTerminator();
      llvm::BranchInst::Create(aligned->getLoopPreheader(), own, is_aligned, end->getIterator());
      end->eraseFromParent();
    }
    for (const Neighbours& piece : neighbours_) {
      for (const auto& [load, offset] : piece.parts) {
        Value* made = rest ? static_cast<Value*>(values[load]) : load;
        align(*llvm::cast<llvm::LoadInst>(made),
              llvm::commonAlignment(piece.wanted, static_cast<std::uint64_t>(offset)));
      }
    }
    return aligned ? aligned->getHeader() : nullptr;
  }

  llvm::Loop& loop_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  std::vector<Neighbours> neighbours_;
};

}  // namespace

void align_loops(llvm::Function& function) {
  llvm::DenseSet<llvm::BasicBlock*> seen;  // headers
  for (bool changed = true; changed;) {
    changed = false;
    ir::PassManagers managers;
    ir::form_loops(function, managers.functions);
    auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost() || !seen.insert(loop->getHeader()).second) continue;
      llvm::BasicBlock* other = LoopAlignment(*loop, managers.functions, function).run();
      if (!other) continue;
      seen.insert(other);
      changed = true;
      break;  // the analyses are of what was
    }
  }
}

}  // namespace metalloid::engines::cuda
