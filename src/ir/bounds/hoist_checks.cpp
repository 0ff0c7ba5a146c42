#include "ir/bounds/hoist_checks.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/bounds/check_bounds.h"
#include "ir/support/loop_form.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {
namespace {

using llvm::SCEV;
using llvm::Value;

// Instructions of loops that are worth a second form. Products with packed weights have some hundreds for few checks.
constexpr std::size_t most_instructions = 1000;
// Products of matrices are large loops, and most of a kernel.
constexpr std::size_t most_instructions_with_meetings = 6000;
// Of loops of which several turns are done at once.
constexpr std::size_t few_instructions = 60;
// Of a counter in an offset: products with 32-bit counters do not wrap.
constexpr std::uint64_t most_scale = std::uint64_t{1} << 20;

// Of an address that goes along by what the kernel computes, in bytes.
constexpr std::uint64_t most_step = 0x7fffffff;

// Goes up from turn to turn, and is below `end` where the loop's body begins.
struct Counter {
  const llvm::SCEVAddRecExpr* value;
  const SCEV* end;
  llvm::BinaryOperator* step;  // to the next turn's
  llvm::BasicBlock *test, *body;
  bool is_signed;
};

// An offset: base + scale * by * (counter - its start), or base + scale * by * turn.
struct Line {
  const SCEV* base;          // 64 bits
  std::uint64_t scale = 0;   // 0: it does not change
  const SCEV* by = nullptr;  // 64 bits; null: one
  bool is_of_turns = false;
};

// What a number of 32 bits must not exceed, or it wraps: start + by * (counter - its start).
struct NoWrap {
  const SCEV *start, *by;
  std::uint64_t most;
};

class LoopChecks {
 public:
  LoopChecks(llvm::Loop& loop, llvm::FunctionAnalysisManager& analyses, llvm::Function& function,
             unsigned turns_at_once, const LoopMeetings* meetings)
      : loop_(loop),
        turns_at_once_(turns_at_once),
        meetings_(meetings),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        expander_(evolution_, "hoisted") {}

  // The headers of the loop's other forms; none if it stays as it is.
  std::vector<llvm::BasicBlock*> run() {
    if (!loop_.isLoopSimplifyForm() || !loop_.isSafeToClone() || !is_worth_it()) return {};
    counter_ = find_counter();
    if (!counter_) return {};
    const bool is_countable = evolution_.hasLoopInvariantBackedgeTakenCount(&loop_);
    for (llvm::BasicBlock* block : loop_.blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (llvm::CallInst* check = as_bounds_check(instruction)) note(*check);
      }
    }
    if (checks_.empty() && is_countable) return {};
    if (!is_expandable(counter_->end) || !is_expandable(counter_->value->getStart())) return {};
    // The test is made once more where one form ends and the next one begins.
    const bool can_test_again = llvm::none_of(
        *counter_->test, [](const llvm::Instruction& instruction) { return instruction.mayHaveSideEffects(); });
    several_at_once_ = turns_at_once_ > 1 && instructions_ <= few_instructions && can_test_again &&
                       evolution_.getSmallConstantTripCount(&loop_) == 0;
    return split(condition(is_countable && !several_at_once_));
  }

 private:
  struct Hoisted {
    llvm::CallInst* check;
    Line line;
    std::uint64_t bytes;
  };

  bool is_worth_it() {
    for (const llvm::BasicBlock* block : loop_.blocks()) {
      for (const llvm::Instruction& instruction : *block) {
        ++instructions_;
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call || !call->isConvergent()) continue;
        if (!meetings_ || !meetings_->is_of_whole_simdgroups(*call)) return false;
        has_meetings_ = true;
      }
    }
    return instructions_ <= (has_meetings_ ? most_instructions_with_meetings : most_instructions);
  }

  bool is_expandable(const SCEV* value) {
    return evolution_.isLoopInvariant(value, &loop_) &&
           expander_.isSafeToExpandAt(value, loop_.getLoopPreheader()->getTerminator());
  }

  // By the test that each turn begins with.
  std::optional<Counter> find_counter() {
    llvm::BasicBlock* header = loop_.getHeader();
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
    if (!branch || !branch->isConditional()) return std::nullopt;
    auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    const bool goes_on_if_true = loop_.contains(branch->getSuccessor(0));
    if (!test || goes_on_if_true == loop_.contains(branch->getSuccessor(1))) return std::nullopt;
    llvm::CmpInst::Predicate predicate = goes_on_if_true ? test->getPredicate() : test->getInversePredicate();
    Value *left = test->getOperand(0), *right = test->getOperand(1);
    if (predicate == llvm::CmpInst::ICMP_UGT || predicate == llvm::CmpInst::ICMP_SGT) {
      std::swap(left, right);
      predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    }
    if (predicate != llvm::CmpInst::ICMP_ULT && predicate != llvm::CmpInst::ICMP_SLT) return std::nullopt;
    auto* phi = llvm::dyn_cast<llvm::PHINode>(left);
    if (!phi || phi->getParent() != header || !left->getType()->isIntegerTy(32)) return std::nullopt;
    auto* step = llvm::dyn_cast<llvm::BinaryOperator>(phi->getIncomingValueForBlock(loop_.getLoopLatch()));
    const auto* value = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(phi));
    const SCEV* end = evolution_.getSCEV(right);
    if (!step || step->getOpcode() != llvm::Instruction::Add || !value || value->getLoop() != &loop_ ||
        !value->isAffine() || !evolution_.isLoopInvariant(end, &loop_) ||
        !is_expandable(value->getStepRecurrence(evolution_))) {
      return std::nullopt;
    }
    llvm::BasicBlock* body = branch->getSuccessor(goes_on_if_true ? 0 : 1);
    return Counter{value, end, step, header, body, predicate == llvm::CmpInst::ICMP_SLT};
  }

  void note(llvm::CallInst& check) {
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(check.getArgOperand(1));
    if (!bytes || bytes->getZExtValue() > most_scale) return;
    if (!dominators_.dominates(llvm::BasicBlockEdge(counter_->test, counter_->body), check.getParent())) return;
    if (!is_expandable(evolution_.getSCEV(check.getArgOperand(2))) || !loop_.isLoopInvariant(check.getArgOperand(3))) {
      return;
    }
    const auto line = line_of(evolution_.getSCEV(check.getArgOperand(0)));
    if (!line || line->scale > most_scale || !is_expandable(line->base)) return;
    if (line->by && !is_expandable(line->by)) return;
    checks_.push_back({&check, *line, bytes->getZExtValue()});
  }

  const SCEV* number(std::uint64_t value) {
    return evolution_.getConstant(llvm::Type::getInt64Ty(loop_.getHeader()->getContext()), value);
  }
  const SCEV* widened(const SCEV* value) {
    llvm::Type* type = llvm::Type::getInt64Ty(loop_.getHeader()->getContext());
    return counter_->is_signed ? evolution_.getSignExtendExpr(value, type) : evolution_.getZeroExtendExpr(value, type);
  }

  std::optional<Line> line_of(const SCEV* offset) {
    if (evolution_.isLoopInvariant(offset, &loop_)) return Line{offset};
    if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(offset)) return line_of_sum(*sum);
    if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(offset)) return line_of_product(*product);
    if (const auto* cast = llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(offset)) return line_of_cast(*cast);
    if (const auto* own = llvm::dyn_cast<llvm::SCEVAddRecExpr>(offset)) return line_of_steps(*own);
    return std::nullopt;
  }

  std::optional<Line> line_of_sum(const llvm::SCEVAddExpr& sum) {
    Line whole{number(0)};
    for (const SCEV* operand : sum.operands()) {
      const auto line = line_of(operand);
      if (!line || (line->scale != 0 && whole.scale != 0)) return std::nullopt;  // in two places: seldom
      whole.base = evolution_.getAddExpr(whole.base, line->base);
      if (line->scale == 0) continue;
      whole.scale = line->scale;
      whole.by = line->by;
      whole.is_of_turns = line->is_of_turns;
    }
    return whole;
  }

  std::optional<Line> line_of_product(const llvm::SCEVMulExpr& product) {
    const auto* factor = llvm::dyn_cast<llvm::SCEVConstant>(product.getOperand(0));
    if (!factor || product.getNumOperands() != 2 || factor->getAPInt().ugt(most_scale)) return std::nullopt;
    auto line = line_of(product.getOperand(1));
    if (!line || line->scale > most_scale || (line->is_of_turns && line->by)) return std::nullopt;
    line->scale *= factor->getAPInt().getZExtValue();
    line->base = evolution_.getMulExpr(factor, line->base);
    return line;
  }

  // Of a step of 32 bits that is a multiple of `by`, the quotient, of 64 bits; else null. Where the step wraps, the
  // quotient is too large for what a condition says.
  const SCEV* divided(const SCEV* step, std::uint64_t by) {
    const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(step);
    if (!product || product->getNumOperands() != 2 || !step->getType()->isIntegerTy(32) || by == 1) return nullptr;
    const auto* factor = llvm::dyn_cast<llvm::SCEVConstant>(product->getOperand(0));
    if (!factor || factor->getAPInt().getActiveBits() > 20 || factor->getAPInt().getZExtValue() % by != 0) {
      return nullptr;
    }
    const SCEV* other = widened(product->getOperand(1));
    return evolution_.getMulExpr(number(factor->getAPInt().getZExtValue() / by), other);
  }

  // How many times as fast as the counter something grows, of 64 bits; null if nobody knows.
  const SCEV* times_as_fast(const llvm::SCEVAddRecExpr& own) {
    const SCEV *step = counter_->value->getStepRecurrence(evolution_), *own_step = own.getStepRecurrence(evolution_);
    const auto *fixed = llvm::dyn_cast<llvm::SCEVConstant>(step),
               *own_fixed = llvm::dyn_cast<llvm::SCEVConstant>(own_step);
    if (own_step == step) return number(1);
    if (!fixed || fixed->getAPInt().getActiveBits() > 20 || fixed->isZero()) return nullptr;
    const std::uint64_t by = fixed->getAPInt().getZExtValue();
    if (own_fixed) {
      if (own_fixed->getAPInt().getActiveBits() > 31) return nullptr;  // it goes down
      const std::uint64_t own_by = own_fixed->getAPInt().getZExtValue();
      return own_by % by == 0 ? number(own_by / by) : nullptr;
    }
    if (const SCEV* part = divided(own_step, by)) return part;
    return by == 1 && own_step->getType()->isIntegerTy(32) ? widened(own_step) : nullptr;
  }

  // Of a number of 32 bits that grows with the counter: it does not wrap, says a condition.
  std::optional<Line> line_of_cast(const llvm::SCEVIntegralCastExpr& cast) {
    const auto* own = llvm::dyn_cast<llvm::SCEVAddRecExpr>(cast.getOperand());
    const bool is_signed = llvm::isa<llvm::SCEVSignExtendExpr>(cast);
    if (!own || own->getLoop() != &loop_ || !own->isAffine() || !own->getType()->isIntegerTy(32)) return std::nullopt;
    if (!is_signed && !llvm::isa<llvm::SCEVZeroExtendExpr>(cast)) return std::nullopt;
    const SCEV* by = times_as_fast(*own);
    if (!by || !is_expandable(by)) return std::nullopt;
    llvm::Type* type = number(0)->getType();
    const SCEV* start = is_signed ? evolution_.getSignExtendExpr(own->getStart(), type)
                                  : evolution_.getZeroExtendExpr(own->getStart(), type);
    if (!is_expandable(start)) return std::nullopt;
    const bool is_counter = own == counter_->value && is_signed == counter_->is_signed;
    if (!is_counter) no_wraps_.push_back({start, by, is_signed ? 0x7fffffffU : 0xffffffffU});
    return Line{start, 1, by};
  }

  std::optional<Line> line_of_steps(const llvm::SCEVAddRecExpr& own) {
    if (own.getLoop() != &loop_ || !own.isAffine() || !own.getType()->isIntegerTy(64)) return std::nullopt;
    if (const auto* by = llvm::dyn_cast_or_null<llvm::SCEVConstant>(times_as_fast(own))) {
      return Line{own.getStart(), by->getAPInt().getZExtValue()};
    }
    const SCEV* step = own.getStepRecurrence(evolution_);
    const auto* fixed = llvm::dyn_cast<llvm::SCEVConstant>(step);
    if (!fixed) return Line{own.getStart(), 1, step, /*is_of_turns=*/true};
    if (fixed->getAPInt().getActiveBits() > 31) return std::nullopt;  // it goes down
    return Line{own.getStart(), fixed->getAPInt().getZExtValue(), nullptr, /*is_of_turns=*/true};
  }

  // In front of the loop. Leaves there how many turns it has, unless somebody else counts them.
  Value* condition(bool turns_are_counted) {
    llvm::Instruction* place = loop_.getLoopPreheader()->getTerminator();
    llvm::IRBuilder<> builder(place);
    llvm::Type* word = builder.getInt64Ty();
    const auto expand = [&](const SCEV* value) { return expander_.expandCodeFor(value, value->getType(), place); };
    Value *start = expand(counter_->value->getStart()), *end = expand(counter_->end);
    Value* step = expand(counter_->value->getStepRecurrence(evolution_));
    Value *none = builder.getInt32(0), *one = builder.getInt32(1);
    const bool is_signed = counter_->is_signed;
    const auto less = is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT;
    // There is a turn. Without a wrap a counter only grows: it lies between its start and the last one below the end.
    Value* all = builder.CreateICmp(less, start, end);
    if (is_signed) all = builder.CreateAnd(all, builder.CreateICmpSGE(start, none));
    Value* last = builder.CreateSub(end, one);
    Value* room = builder.CreateSub(builder.getInt32(is_signed ? 0x7fffffff : 0xffffffff), last);
    all = builder.CreateAnd(all, builder.CreateICmpULE(step, room));
    all = builder.CreateAnd(all, builder.CreateICmpNE(step, none));
    Value *short_distance = builder.CreateSub(last, start), *distance = builder.CreateZExt(short_distance, word);
    // Turns that do several elements may end with the last one: of the counter's last value nothing but it will do.
    const bool has_lines_of_turns =
        llvm::any_of(checks_, [](const Hoisted& hoisted) { return hoisted.line.is_of_turns; });
    const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(step);
    Value* last_turn = distance;
    if (has_lines_of_turns || (fixed && fixed->getValue().ugt(1))) {
      // Where the condition is false it is not asked for: divided by anything but zero.
      Value* by = builder.CreateZExt(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, step, one), word);
      last_turn = builder.CreateUDiv(distance, by);
      distance = builder.CreateMul(last_turn, by);
    }
    for (const NoWrap& number : no_wraps_) {
      Value *by = expand(number.by), *grown = builder.CreateMul(by, distance);
      if (!llvm::isa<llvm::ConstantInt>(by)) {
        all = builder.CreateAnd(all, builder.CreateICmpULE(by, builder.getInt64(0xffffffff)));
        all = builder.CreateAnd(all, builder.CreateICmpULE(grown, builder.getInt64(0xffffffff)));
      }
      Value* furthest = builder.CreateAdd(expand(number.start), grown);
      all = builder.CreateAnd(all, builder.CreateICmpSLE(furthest, builder.getInt64(number.most)));
    }
    for (const Hoisted& hoisted : checks_) {
      Value* grown =
          builder.CreateMul(hoisted.line.is_of_turns ? last_turn : distance, builder.getInt64(hoisted.line.scale));
      if (hoisted.line.by) {
        Value* by = expand(hoisted.line.by);
        // So that 32 bits of turns times it do not wrap.
        if (hoisted.line.is_of_turns)
          all = builder.CreateAnd(all, builder.CreateICmpULE(by, builder.getInt64(most_step)));
        grown = builder.CreateMul(grown, by);
      }
      Value* bytes = builder.CreateAdd(grown, builder.getInt64(hoisted.bytes));
      Value* available = expand(evolution_.getSCEV(hoisted.check->getArgOperand(2)));
      Value* base = expand(hoisted.line.base);
      all = builder.CreateAnd(all, builder.CreateICmpULE(base, available));
      all = builder.CreateAnd(all, builder.CreateICmpULE(bytes, builder.CreateSub(available, base)));
    }
    if (has_meetings_) all = meetings_->holds_for_all(builder, all);
    if (turns_are_counted) return all;
    // Where the condition is false it is not asked for: divided by anything but zero.
    Value* by = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, step, one);
    turns_ = builder.CreateAdd(builder.CreateUDiv(short_distance, by), one);
    return all;
  }

  // A copy without checks.
  struct Form {
    llvm::Loop* loop = nullptr;
    llvm::ValueToValueMapTy values;
  };

  template <typename T>
  static T* in(Form& form, T* of_loop) {
    return llvm::cast<T>(static_cast<Value*>(form.values[of_loop]));
  }

  // It hangs in the air: nobody goes there yet.
  void copy_to(Form& form, llvm::BasicBlock* preheader, llvm::BasicBlock* before, const char* name) {
    form.loop = copy_loop(loop_, preheader, before, name, form.values, loops_, dominators_);
    for (const Hoisted& hoisted : checks_) in(form, static_cast<llvm::Instruction*>(hoisted.check))->eraseFromParent();
    auto* step = in(form, counter_->step);
    counter_->is_signed ? step->setHasNoSignedWrap() : step->setHasNoUnsignedWrap();
  }

  // The form goes through turns by their numbers.
  void count_turns(Form& form, Value* first, Value* end) {
    llvm::BasicBlock* header = in(form, counter_->test);
    llvm::IRBuilder<> builder(header, header->begin());
    llvm::PHINode* turn = builder.CreatePHI(builder.getInt32Ty(), 2, "turn");
    turn->addIncoming(first, form.loop->getLoopPreheader());
    builder.SetInsertPoint(form.loop->getLoopLatch()->getTerminator());
    turn->addIncoming(builder.CreateAdd(turn, builder.getInt32(1), "", /*HasNUW=*/true), form.loop->getLoopLatch());
    auto* branch = llvm::cast<llvm::BranchInst>(header->getTerminator());
    builder.SetInsertPoint(branch);
    const bool goes_on_if_true = form.loop->contains(branch->getSuccessor(0));
    branch->setCondition(goes_on_if_true ? builder.CreateICmpULT(turn, end) : builder.CreateICmpUGE(turn, end));
  }

  // Where the first form's turns end the second one goes on.
  void chain(Form& first, Form& second) {
    llvm::BasicBlock *header = in(first, counter_->test), *begin = second.loop->getLoopPreheader();
    auto* branch = llvm::cast<llvm::BranchInst>(header->getTerminator());
    const unsigned way_out = first.loop->contains(branch->getSuccessor(0)) ? 1 : 0;
    branch->getSuccessor(way_out)->removePredecessor(header, /*KeepOneInputPHIs=*/true);
    branch->setSuccessor(way_out, begin);
    for (llvm::PHINode& phi : counter_->test->phis()) {
      in(second, &phi)->setIncomingValueForBlock(begin, in(first, &phi));
    }
  }

  // The loop's copies have no checks. They are gone through if the condition is true. Returns their headers.
  std::vector<llvm::BasicBlock*> split(Value* condition) {
    llvm::BasicBlock* before = loop_.getLoopPreheader();
    llvm::BasicBlock* own = llvm::SplitBlock(before, before->getTerminator(), &dominators_, &loops_);
    Form first, second;
    copy_to(first, own, before, ".inside");
    std::vector<llvm::BasicBlock*> headers = {first.loop->getHeader()};
    llvm::Instruction* end = before->getTerminator();
    if (several_at_once_) {
      copy_to(second, own, before, ".rest");
      headers.push_back(second.loop->getHeader());
      llvm::IRBuilder<> builder(end);
      Value* whole = builder.CreateAnd(turns_, builder.getInt32(~(turns_at_once_ - 1)));
      count_turns(first, builder.getInt32(0), whole);
      count_turns(second, whole, turns_);
      chain(first, second);
      llvm::addStringMetadataToLoop(first.loop, "llvm.loop.unroll.count", turns_at_once_);
      llvm::addStringMetadataToLoop(second.loop, "llvm.loop.unroll.count", turns_at_once_ / 2);
    } else if (turns_) {
      count_turns(first, llvm::IRBuilder<>(end).getInt32(0), turns_);
    }
    llvm::BranchInst::Create(first.loop->getLoopPreheader(), own, condition, end->getIterator());
    end->eraseFromParent();
    return headers;
  }

  llvm::Loop& loop_;
  const unsigned turns_at_once_;
  const LoopMeetings* const meetings_;
  llvm::LoopInfo& loops_;
  llvm::DominatorTree& dominators_;
  llvm::ScalarEvolution& evolution_;
  llvm::SCEVExpander expander_;
  std::optional<Counter> counter_;
  std::size_t instructions_ = 0;
  bool has_meetings_ = false;
  bool several_at_once_ = false;
  Value* turns_ = nullptr;  // how many there are, if nobody else can tell
  llvm::SmallVector<Hoisted, 8> checks_;
  llvm::SmallVector<NoWrap, 8> no_wraps_;
};

}  // namespace

void hoist_checks(llvm::Function& function, unsigned turns_at_once, const LoopMeetings* meetings) {
  llvm::DenseSet<llvm::BasicBlock*> seen;  // headers
  for (bool changed = true; changed;) {
    changed = false;
    PassManagers managers;
    form_loops(function, managers.functions);
    auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost() || !seen.insert(loop->getHeader()).second) continue;
      const auto copies = LoopChecks(*loop, managers.functions, function, turns_at_once, meetings).run();
      if (copies.empty()) continue;
      seen.insert(copies.begin(), copies.end());
      changed = true;
      break;  // the analyses are of what was
    }
  }
}

}  // namespace metalloid::ir
