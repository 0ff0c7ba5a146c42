#include "engines/cuda/passes/join_turns.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engines/cuda/passes/fork_by_alignment.h"
#include "engines/cuda/passes/row_accesses.h"
#include "engines/cuda/passes/thread_path.h"
#include "engines/cuda/passes/threadgroup_uniformity.h"
#include "engines/cuda/passes/turns_alone.h"
#include "ir/bounds/lower_bounds_checks.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
using Kind = Step::Kind;

constexpr unsigned most_joined = 8;
// Of all turns that go together.
constexpr std::size_t most_instructions = 512;
// Short ones have several accesses on their way: so many turns, of loops of so many instructions.
constexpr unsigned turns_at_once = 4;
constexpr std::size_t most_at_once = 64;

// for (counter = thread; counter < end; counter += threads) turn, and what of it goes together.
struct TurnLoop {
  BasicBlock *before = nullptr, *header = nullptr, *latch = nullptr, *behind = nullptr;
  llvm::PHINode* counter = nullptr;
  Value* end = nullptr;
  bool is_signed = false;
  std::vector<Step> path;
  std::optional<Differences> differences;
  llvm::SmallPtrSet<const Instruction*, 32> wanted, asked;  // for stores, and for checks alone
  unsigned count = 0;

  // Whether something must hold for numbers of turns to differ as they are said to.
  bool has_condition(const Step& step) const {
    return differences->condition_of(step.instruction) != Condition::none &&
           (wanted.contains(step.instruction) || asked.contains(step.instruction));
  }
};

class Finder {
 public:
  Finder(const ThreadgroupUniformity& uniformity, std::uint32_t threads) : uniformity_(uniformity), threads_(threads) {}

  std::optional<TurnLoop> find(const llvm::Loop& loop) {
    TurnLoop found;
    if (!has_form(loop, found) || !uniformity_.is_for_all(found.before)) return std::nullopt;
    auto path = path_of_turn(loop);
    if (!path) return std::nullopt;
    found.path = std::move(*path);
    found.differences.emplace(found.path, *found.counter, loop);
    const bool fits = take_wanted(loop, found) && choose_count(found) && can_be_asked(loop, found) && is_alone(found);
    return fits ? std::optional(std::move(found)) : std::nullopt;
  }

 private:
  bool has_form(const llvm::Loop& loop, TurnLoop& found) const {
    using namespace llvm::PatternMatch;
    found.header = loop.getHeader(), found.latch = loop.getLoopLatch(), found.before = loop.getLoopPreheader();
    found.behind = loop.getExitBlock();
    if (!loop.isInnermost() || loop.getNumBlocks() != 2 || !found.latch || !found.before || !found.behind ||
        loop.getExitingBlock() != found.header) {
      return false;
    }
    for (llvm::PHINode& phi : found.header->phis()) {
      if (std::exchange(found.counter, &phi)) return false;
    }
    llvm::CmpPredicate predicate;
    BasicBlock *first = nullptr, *second = nullptr;
    if (!found.counter || !found.counter->getType()->isIntegerTy(32) ||
        !match(found.header->getTerminator(), m_Br(m_c_ICmp(predicate, m_Specific(found.counter), m_Value(found.end)),
                                                   m_BasicBlock(first), m_BasicBlock(second)))) {
      return false;
    }
    found.is_signed = predicate == llvm::CmpInst::ICMP_SLT;
    const bool is_below = found.is_signed || predicate == llvm::CmpInst::ICMP_ULT;
    return is_below && first == found.latch && loop.isLoopInvariant(found.end) && uniformity_.is_same(found.end) &&
           match(found.counter->getIncomingValueForBlock(found.before),
                 m_Intrinsic<llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x>()) &&
           match(found.counter->getIncomingValueForBlock(found.latch),
                 m_Add(m_Specific(found.counter), m_SpecificInt(threads_)));
  }

  // What stores need, and what is asked in front. All of it that comes from outside is the same for all threads.
  bool take_wanted(const llvm::Loop& loop, TurnLoop& found) const {
    const auto is_known = [&](const Value* value) {
      const auto* instruction = llvm::dyn_cast<Instruction>(value);
      return !instruction || loop.contains(instruction) || uniformity_.is_same(instruction);
    };
    for (const Step& step : llvm::reverse(found.path)) {
      const bool leaves = llvm::any_of(step.instruction->users(), [&](const llvm::User* user) {
        return !loop.contains(llvm::cast<Instruction>(user));
      });
      if (leaves) return false;
      if (step.kind == Kind::store) found.wanted.insert(step.instruction);
      if (step.kind == Kind::check) found.asked.insert(step.instruction);
      const bool is_wanted = found.wanted.contains(step.instruction);
      if (!is_wanted && !found.asked.contains(step.instruction)) continue;
      if (!llvm::all_of(step.instruction->operands(), is_known)) return false;
      for (const Value* operand : step.instruction->operands()) {
        const auto* instruction = llvm::dyn_cast<Instruction>(operand);
        if (instruction && loop.contains(instruction)) (is_wanted ? found.wanted : found.asked).insert(instruction);
      }
    }
    return llvm::none_of(found.counter->users(),
                         [&](const llvm::User* user) { return !loop.contains(llvm::cast<Instruction>(user)); });
  }

  static bool is_row(const TurnLoop& found, const Step& step) {
    return (step.kind == Kind::load || step.kind == Kind::store) && found.differences->is_row(step.instruction);
  }

  static bool choose_count(TurnLoop& found) {
    std::uint64_t widest = 0;
    std::size_t instructions = 0;
    for (const Step& step : found.path) {
      if (step.kind == Kind::store && !is_row(found, step)) return false;
      if (!found.wanted.contains(step.instruction)) continue;
      ++instructions;
      if (is_row(found, step)) widest = std::max(widest, bytes_of(*step.instruction));
    }
    if (widest == 0) return false;
    found.count = static_cast<unsigned>(std::min<std::uint64_t>(widest_access.value() / widest, most_joined));
    while (found.count > 1 && found.count * instructions > most_instructions) found.count /= 2;
    return found.count > 1;
  }

  // Whether a value of the first turn of all can be computed in front of the loop.
  static bool is_arithmetic(const llvm::Loop& loop, const TurnLoop& found, const Value* value, unsigned depth = 16) {
    const auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !loop.contains(instruction) || instruction == found.counter) return true;
    if (depth == 0 || instruction->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(instruction)) {
      return false;
    }
    return llvm::all_of(instruction->operands(),
                        [&](const llvm::Use& operand) { return is_arithmetic(loop, found, operand.get(), depth - 1); });
  }

  static bool is_alone(const TurnLoop& found) {
    std::vector<Instruction*> accesses;
    for (const Step& step : found.path) {
      const bool is_access = step.kind == Kind::load || step.kind == Kind::store;
      if (is_access && found.wanted.contains(step.instruction)) accesses.push_back(step.instruction);
    }
    return turns_are_alone(accesses, *found.before, *found.header, *found.behind);
  }

  // Checks, rows' alignment, and that no number wraps on the way.
  static bool can_be_asked(const llvm::Loop& loop, const TurnLoop& found) {
    const Differences& differences = *found.differences;
    for (const Step& step : found.path) {
      if (step.kind == Kind::check) {
        const Difference offset = differences.of(step.instruction->getOperand(0));
        if (!llvm::isa<llvm::ConstantInt>(step.instruction->getOperand(1)) || !offset.by || *offset.by < 0 ||
            !differences.of(step.instruction->getOperand(2)).is_same ||
            !is_arithmetic(loop, found, step.instruction->getOperand(0)) ||
            !is_arithmetic(loop, found, step.instruction->getOperand(2))) {
          return false;
        }
      } else if (is_row(found, step) && found.wanted.contains(step.instruction)) {
        if (!is_arithmetic(loop, found, llvm::getLoadStorePointerOperand(step.instruction))) return false;
      }
      if (!found.has_condition(step)) continue;
      const Value* number = step.instruction->getOperand(0);
      if (differences.of(const_cast<Value*>(number)).by != 1 || !is_arithmetic(loop, found, number)) return false;
    }
    return true;
  }

  const ThreadgroupUniformity& uniformity_;
  const std::uint32_t threads_;
};

class Writer {
 public:
  Writer(TurnLoop& loop, std::uint32_t threads)
      : loop_(loop), differences_(*loop.differences), threads_(threads), builder_(loop.before->getTerminator()) {}

  void write() {
    llvm::LLVMContext& context = builder_.getContext();
    llvm::Function* function = loop_.header->getParent();
    BasicBlock* together = BasicBlock::Create(context, "together", function, loop_.header);
    BasicBlock* rest = BasicBlock::Create(context, "rest", function, loop_.header);
    builder_.SetCurrentDebugLocation(loop_.header->getTerminator()->getDebugLoc());

    // In front.
    Value* thread = loop_.counter->getIncomingValueForBlock(loop_.before);
    Value* end = loop_.end;
    if (loop_.is_signed) end = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, builder_.getInt32(0));
    Value* step = builder_.getInt32(threads_ * loop_.count);
    Value* limit = builder_.CreateSub(end, builder_.CreateURem(end, step), "limit");
    Value* way = builder_.CreateSub(limit, builder_.getInt32(1));
    // There is something, and no counter is negative as a number with a sign.
    Value* may = builder_.CreateICmpULT(way, builder_.getInt32(0x7fffffff));
    Value* begin = builder_.CreateMul(thread, builder_.getInt32(loop_.count), "", /*HasNUW=*/true);
    first_[loop_.counter] = builder_.getInt32(0);
    for (const Step& each : loop_.path) may = builder_.CreateAnd(may, may_all(each, way));
    llvm::MDNode* likely = llvm::MDBuilder(context).createLikelyBranchWeights();
    builder_.CreateCondBr(may, together, loop_.header, likely);
    loop_.before->getTerminator()->eraseFromParent();

    // Together.
    builder_.SetInsertPoint(together);
    llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt32Ty(), 2, "first");
    counter->addIncoming(begin, loop_.before);
    write_turns(counter);
    builder_.SetCurrentDebugLocation(loop_.header->getTerminator()->getDebugLoc());
    Value* next = builder_.CreateAdd(counter, step, "", /*HasNUW=*/true);
    counter->addIncoming(next, together);
    llvm::BranchInst* again = builder_.CreateCondBr(builder_.CreateICmpULT(next, limit), together, rest);
    llvm::MDNode* wish = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
    if (is_short()) {
      llvm::Metadata* at_once = llvm::ConstantAsMetadata::get(builder_.getInt32(turns_at_once));
      wish = llvm::MDNode::get(context, {llvm::MDString::get(context, "llvm.loop.unroll.count"), at_once});
    }
    llvm::MDNode* turns = llvm::MDNode::getDistinct(context, {nullptr, wish});
    turns->replaceOperandWith(0, turns);
    again->setMetadata(llvm::LLVMContext::MD_loop, turns);

    // What is left.
    builder_.SetInsertPoint(rest);
    Value* following = builder_.CreateAdd(limit, thread);
    Value* has_rest = builder_.CreateICmpULT(thread, builder_.CreateSub(end, limit));
    builder_.CreateCondBr(has_rest, loop_.header, loop_.behind);
    loop_.counter->addIncoming(following, rest);
    for (llvm::PHINode& phi : loop_.behind->phis()) {
      phi.addIncoming(phi.getIncomingValueForBlock(loop_.header), rest);
    }
  }

 private:
  // Longer ones would need registers that other threads have.
  bool is_short() const {
    std::size_t instructions = 0;
    for (const Step& step : loop_.path) {
      if (loop_.wanted.contains(step.instruction))
        instructions += differences_.of(step.instruction).is_same ? 1 : loop_.count;
    }
    return instructions <= most_at_once;
  }

  // Of the first turn of all, in front of the loop.
  Value* at_first(Value* value) {
    if (const auto known = first_.find(value); known != first_.end()) return known->second;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || (instruction->getParent() != loop_.header && instruction->getParent() != loop_.latch)) {
      return value;
    }
    llvm::SmallVector<Value*, 4> operands;
    for (Value* operand : instruction->operands()) operands.push_back(at_first(operand));
    Instruction* made = instruction->clone();
    for (unsigned i = 0; i < operands.size(); ++i) made->setOperand(i, operands[i]);
    made->dropPoisonGeneratingFlags();
    builder_.Insert(made);
    first_[value] = made;
    return made;
  }

  // i1: whether a step may be done for all turns at once, the last of which is `way` behind the first.
  Value* may_all(const Step& step, Value* way) {
    Value* may = builder_.getTrue();
    if (loop_.has_condition(step)) {
      Value* number = at_first(step.instruction->getOperand(0));
      const unsigned width = number->getType()->getIntegerBitWidth();
      const bool is_signed = differences_.condition_of(step.instruction) == Condition::signed_room;
      const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
      Value* last = builder_.CreateSub(llvm::ConstantInt::get(number->getType(), most),
                                       builder_.CreateZExtOrTrunc(way, number->getType()));
      may = builder_.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, number, last);
    }
    if (step.kind == Kind::check) {
      const auto by = static_cast<std::uint64_t>(*differences_.of(step.instruction->getOperand(0)).by);
      Value* bytes = builder_.CreateAdd(builder_.CreateMul(builder_.CreateZExt(way, builder_.getInt64Ty()),
                                                           builder_.getInt64(by), "", /*HasNUW=*/true),
                                        step.instruction->getOperand(1), "", /*HasNUW=*/true);
      Value* inside = ir::is_inside(builder_, at_first(step.instruction->getOperand(0)), bytes,
                                    at_first(step.instruction->getOperand(2)));
      return builder_.CreateAnd(may, inside);
    }
    const bool is_access = step.kind == Kind::load || step.kind == Kind::store;
    if (!is_access || !loop_.wanted.contains(step.instruction) || !differences_.is_row(step.instruction)) return may;
    Value* pointer = at_first(llvm::getLoadStorePointerOperand(step.instruction));
    const std::uint64_t alignment = row_alignment(*step.instruction, loop_.count);
    Value* low = builder_.CreateTrunc(builder_.CreatePtrToInt(pointer, builder_.getInt64Ty()), builder_.getInt32Ty());
    Value* rest = builder_.CreateAnd(low, builder_.getInt32(static_cast<std::uint32_t>(alignment - 1)));
    return builder_.CreateAnd(may, builder_.CreateICmpEQ(rest, builder_.getInt32(0)));
  }

  Value* of(Value* value, unsigned j) const {
    const auto found = turns_.find(value);
    if (found == turns_.end()) return value;
    return found->second.size() == 1 ? found->second.front() : found->second[j];
  }

  void write_turns(Value* counter) {
    // LLVM would have an address of each row go along, of 64 bits: to make all of one number is less.
    auto* hide = llvm::InlineAsm::get(llvm::FunctionType::get(builder_.getInt32Ty(), {builder_.getInt32Ty()}, false),
                                      "mov.b32 $0, $1;", "=r,r", /*hasSideEffects=*/false);
    counter = builder_.CreateCall(hide, {counter});
    std::vector<Value*>& counters = turns_[loop_.counter];
    for (unsigned j = 0; j < loop_.count; ++j) {
      counters.push_back(builder_.CreateAdd(counter, builder_.getInt32(j), "", /*HasNUW=*/true, /*HasNSW=*/true));
    }
    for (const Step& step : loop_.path) {
      if (!loop_.wanted.contains(step.instruction)) continue;
      builder_.SetCurrentDebugLocation(step.instruction->getDebugLoc());
      if (step.kind == Kind::store) {
        auto& store = llvm::cast<llvm::StoreInst>(*step.instruction);
        std::vector<Value*> values;
        for (unsigned j = 0; j < loop_.count; ++j) values.push_back(of(store.getValueOperand(), j));
        store_row(builder_, store, of(store.getPointerOperand(), 0), values);
      } else if (step.kind == Kind::load && differences_.is_row(step.instruction)) {
        auto& load = llvm::cast<llvm::LoadInst>(*step.instruction);
        turns_[&load] = load_row(builder_, load, of(load.getPointerOperand(), 0), loop_.count);
      } else {
        const unsigned copies = differences_.of(step.instruction).is_same ? 1 : loop_.count;
        std::vector<Value*> values;
        for (unsigned j = 0; j < copies; ++j) values.push_back(copy(*step.instruction, j));
        turns_[step.instruction] = std::move(values);
      }
    }
  }

  Value* copy(Instruction& instruction, unsigned j) {
    Instruction* made = instruction.clone();
    for (llvm::Use& operand : made->operands()) operand.set(of(operand.get(), j));
    return builder_.Insert(made);
  }

  TurnLoop& loop_;
  const Differences& differences_;
  const std::uint32_t threads_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<Value*, Value*> first_;
  llvm::DenseMap<Value*, std::vector<Value*>> turns_;
};

}  // namespace

void join_turns(const Entry& entry, std::uint32_t threads) {
  llvm::Function& function = *entry.function;
  ir::PassManagers managers;
  ir::form_loops(function, managers.functions);
  const auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty()) return;
  const ThreadgroupUniformity uniformity(function);
  Finder finder(uniformity, threads);
  std::vector<TurnLoop> found;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (auto one = finder.find(*loop)) found.push_back(std::move(*one));
  }
  for (TurnLoop& loop : found) Writer(loop, threads).write();
}

}  // namespace metalloid::engines::cuda
