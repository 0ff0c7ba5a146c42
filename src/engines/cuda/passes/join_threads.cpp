#include "engines/cuda/passes/join_threads.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/passes/fork_by_alignment.h"
#include "engines/cuda/passes/row_accesses.h"
#include "engines/cuda/passes/thread_path.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/lower_bounds_checks.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
using Kind = Step::Kind;

constexpr unsigned most_joined = 8, lanes = 32;
// Of numbers, for all threads together: who computes more does not wait for memory.
constexpr std::size_t most_instructions = 1024, instructions_of_call = 24;

// What of the path is wanted, how many threads go together, and whether they can.
class Plan {
 public:
  Plan(std::vector<Step> path, const Differences& differences) : path_(std::move(path)), differences_(differences) {
    find_wanted();
  }

  // 0: one by one.
  unsigned threads() {
    std::uint64_t widest = 0;
    std::size_t instructions = 0;
    for (const Step& step : path_) {
      if (!is_wanted(step)) continue;
      const bool is_row =
          (step.kind == Kind::load || step.kind == Kind::store) && differences_.is_row(step.instruction);
      if (step.kind == Kind::store && !is_row) return 0;
      if (is_row) {
        widest = std::max(widest, bytes_of(*step.instruction));
      }
      if (step.kind == Kind::value && !differences_.of(step.instruction).is_same) {
        instructions += llvm::isa<llvm::CallInst>(step.instruction) ? instructions_of_call : 1;
      }
    }
    if (widest == 0 || !asks_before_stores() || parts_by_data()) return 0;
    auto count = static_cast<unsigned>(std::min<std::uint64_t>(widest_access.value() / widest, most_joined));
    while (count > 1 && count * instructions > most_instructions) count /= 2;
    return count < 2 ? 0 : count;
  }

  const std::vector<Step>& path() const { return path_; }
  bool is_wanted(const Step& step) const {
    return step.kind == Kind::store || step.kind == Kind::check || step.kind == Kind::guard ||
           wanted_.contains(step.instruction);
  }

 private:
  void find_wanted() {
    const auto want = [&](Value* value) {
      if (auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(value)) wanted_.insert(instruction);
    };
    for (const Step& step : llvm::reverse(path_)) {
      if (!is_wanted(step)) continue;
      if (step.kind == Kind::guard || step.kind == Kind::choice) {
        for (Value* value : {step.condition, step.if_true, step.if_false}) want(value);
      } else {
        for (Value* operand : step.instruction->operands()) want(operand);
      }
    }
  }

  // Whether what a thread finds in its own memory says how far it goes: then the others often go elsewhere.
  bool parts_by_data() const {
    llvm::SmallPtrSet<const Value*, 32> own;
    for (const Step& step : path_) {
      if (step.kind == Kind::guard) {
        if (own.contains(step.condition)) return true;
        continue;
      }
      const bool is_own = (step.kind == Kind::load && !differences_.of(step.instruction).is_same) ||
                          (step.kind == Kind::choice && own.contains(step.condition)) ||
                          llvm::any_of(step.instruction->operands(), [&](Value* of) { return own.contains(of); });
      if (is_own) own.insert(step.instruction);
    }
    return false;
  }

  // Whether all that must be asked can be, once something was stored: only what does not wait for loads behind the
  // last guard is early enough.
  bool asks_before_stores() const {
    llvm::SmallPtrSet<const Value*, 32> late;
    bool is_stored = false;
    for (const Step& step : path_) {
      if (!is_wanted(step)) continue;
      const bool is_late = step.kind == Kind::load ||
                           llvm::any_of(step.instruction->operands(), [&](Value* of) { return late.contains(of); }) ||
                           (step.kind == Kind::choice && (late.contains(step.condition)));
      const bool is_access = step.kind == Kind::load || step.kind == Kind::store;
      const Value* pointer = is_access ? llvm::getLoadStorePointerOperand(step.instruction) : nullptr;
      if (is_stored) {
        if (step.kind == Kind::guard) return false;
        if (is_late && (step.kind == Kind::check || differences_.condition_of(step.instruction) != Condition::none ||
                        late.contains(pointer))) {
          return false;
        }
      }
      if (step.kind == Kind::guard) late.clear();
      if (is_late) late.insert(step.instruction);
      is_stored |= step.kind == Kind::store;
    }
    return true;
  }

  std::vector<Step> path_;
  const Differences& differences_;
  llvm::SmallPtrSet<const llvm::Instruction*, 32> wanted_;
};

// Writes the way together.
class Together {
 public:
  Together(const Plan& plan, const Differences& differences, unsigned count, Value* first_x, llvm::BasicBlock* begin,
           llvm::BasicBlock* one_by_one, llvm::CallInst& thread_x)
      : plan_(plan), differences_(differences), count_(count), one_by_one_(one_by_one), builder_(begin) {
    std::vector<Value*>& x = several_[&thread_x];
    for (unsigned j = 0; j < count; ++j) {
      x.push_back(builder_.CreateAdd(first_x, builder_.getInt32(j), "", /*HasNUW=*/true, /*HasNSW=*/true));
    }
  }

  // Guards part it. Of each part, what waits for nothing comes first, and with it all that is asked.
  void write() {
    const std::vector<Step>& path = plan_.path();
    for (auto from = path.begin(); from != path.end();) {
      const auto end = std::find_if(from, path.end(), [](const Step& step) { return step.kind == Kind::guard; });
      write_part(from, end);
      if (end == path.end()) break;
      ask(all(end->condition, end->expected));
      from = end + 1;
    }
    leave_unless_asked();
    builder_.CreateRetVoid();
  }

 private:
  using Place = std::vector<Step>::const_iterator;

  void write_part(Place from, Place end) {
    std::vector<const Step*> rest;
    for (const Step& step : llvm::make_range(from, end)) {
      if (!plan_.is_wanted(step) || is_written(step.instruction)) continue;
      const bool waits = step.kind == Kind::load || step.kind == Kind::store || !has_operands(step);
      if (waits) {
        rest.push_back(&step);
      } else {
        write(step);
      }
    }
    for (const Step* step : rest) {
      if (step->kind == Kind::load || step->kind == Kind::store) ask_alignment(*step->instruction);
    }
    for (const Step* step : rest) write(*step);
  }

  bool is_written(Value* value) const { return same_.contains(value) || several_.contains(value); }
  bool has_operands(const Step& step) const {
    const auto is_there = [&](Value* value) { return !llvm::isa<llvm::Instruction>(value) || is_written(value); };
    if (step.kind == Kind::choice) {
      return is_there(step.condition) && is_there(step.if_true) && is_there(step.if_false);
    }
    return llvm::all_of(step.instruction->operands(), [&](Value* operand) { return is_there(operand); });
  }

  // A value of the path, of thread j.
  Value* of(Value* value, unsigned j) const {
    if (const auto found = same_.find(value); found != same_.end()) return found->second;
    const auto found = several_.find(value);
    return found == several_.end() ? value : found->second[j];
  }
  bool is_same(Value* value) const { return !several_.contains(value); }

  void write(const Step& step) {
    builder_.SetCurrentDebugLocation(step.instruction->getDebugLoc());
    if (step.kind == Kind::check) return check(*step.instruction);
    if (step.kind == Kind::load || step.kind == Kind::store) {
      ask_alignment(*step.instruction);
      leave_unless_asked();
      if (rows_.contains(step.instruction)) return access_row(*step.instruction);
    } else if (step.kind == Kind::choice) {
      return repeat(step.instruction, [&](unsigned j) {
        return builder_.CreateSelect(of(step.condition, j), of(step.if_true, j), of(step.if_false, j));
      });
    }
    ask_condition(*step.instruction);
    const bool is_division = llvm::isa<llvm::BinaryOperator>(step.instruction) && step.instruction->isIntDivRem();
    if (is_division && differences_.condition_of(step.instruction) == Condition::none) leave_unless_asked();
    repeat(step.instruction, [&](unsigned j) { return copy(*step.instruction, j); });
  }

  template <typename Make>
  void repeat(llvm::Instruction* instruction, Make&& make) {
    if (differences_.of(instruction).is_same) {
      same_[instruction] = make(0);
      return;
    }
    std::vector<Value*> values;
    for (unsigned j = 0; j < count_; ++j) values.push_back(make(j));
    several_[instruction] = std::move(values);
  }

  llvm::Instruction* copy(llvm::Instruction& instruction, unsigned j) {
    llvm::Instruction* made = instruction.clone();
    for (llvm::Use& operand : made->operands()) operand.set(of(operand.get(), j));
    return builder_.Insert(made);
  }

  // What must hold for differences to be what they are said to be.
  void ask_condition(llvm::Instruction& instruction) {
    const Condition condition = differences_.condition_of(&instruction);
    if (condition == Condition::none) return;
    Value* first = of(instruction.getOperand(0), 0);
    if (condition == Condition::same_threadgroup) {
      Value* size = of(instruction.getOperand(1), 0);
      Value* most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, builder_.getInt32(count_ - 1));
      ask(builder_.CreateICmpULT(builder_.CreateURem(first, size), most));
      return;
    }
    const auto width = static_cast<unsigned>(first->getType()->getIntegerBitWidth());
    const bool is_signed = condition == Condition::signed_room;
    const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
    const auto way = static_cast<std::uint64_t>(*differences_.of(instruction.getOperand(0)).by) * (count_ - 1);
    ask(builder_.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, first,
                            llvm::ConstantInt::get(first->getType(), most - way)));
  }

  void check(llvm::Instruction& check) {
    Value *bytes = check.getOperand(1), *available = check.getOperand(2);
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(bytes);
    const std::optional<std::int64_t> by = differences_.of(check.getOperand(0)).by;
    if (number && by && *by >= 0 && is_same(available)) {
      // From the first byte of the first to the last of the last.
      Value* all = builder_.getInt64(number->getZExtValue() + static_cast<std::uint64_t>(*by) * (count_ - 1));
      ask(ir::is_inside(builder_, of(check.getOperand(0), 0), all, of(available, 0)));
      return;
    }
    for (unsigned j = 0; j < count_; ++j) {
      ask(ir::is_inside(builder_, of(check.getOperand(0), j), of(bytes, j), of(available, j)));
    }
  }

  // That what the path asks is so for all.
  Value* all(Value* condition, bool expected) {
    if (is_same(condition)) return expected ? of(condition, 0) : builder_.CreateNot(of(condition, 0));
    auto* instruction = llvm::cast<llvm::Instruction>(condition);
    Value *a = nullptr, *b = nullptr;
    using namespace llvm::PatternMatch;
    if (match(condition, m_Not(m_Value(a)))) return all(a, !expected);
    if (expected ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                 : match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
      return builder_.CreateLogicalAnd(all(a, expected), all(b, expected));
    }
    if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(instruction);
        compare && is_least_true_of_last(*compare, expected)) {
      return expected ? of(condition, count_ - 1) : builder_.CreateNot(of(condition, count_ - 1));
    }
    Value* result = nullptr;
    for (unsigned j = 0; j < count_; ++j) {
      Value* one = expected ? of(condition, j) : builder_.CreateNot(of(condition, j));
      result = result ? builder_.CreateLogicalAnd(result, one) : one;
    }
    return result;
  }

  // x < n: what holds for the last holds for all.
  bool is_least_true_of_last(const llvm::ICmpInst& compare, bool expected) const {
    const auto predicate = expected ? compare.getPredicate() : compare.getInversePredicate();
    const Difference left = differences_.of(compare.getOperand(0));
    if (!left.by || *left.by <= 0 || !is_same(compare.getOperand(1))) return false;
    switch (predicate) {
      case llvm::CmpInst::ICMP_ULT:
      case llvm::CmpInst::ICMP_ULE: return left.is_exact_unsigned;
      case llvm::CmpInst::ICMP_SLT:
      case llvm::CmpInst::ICMP_SLE: return left.is_exact_signed;
      default: return false;
    }
  }

  // Without a branch yet; what follows must not count on it.
  void ask(Value* condition) { asked_ = asked_ ? builder_.CreateLogicalAnd(asked_, condition) : condition; }

  void leave_unless_asked() {
    if (!asked_) return;
    llvm::LLVMContext& context = builder_.getContext();
    llvm::BasicBlock* here = builder_.GetInsertBlock();
    llvm::BasicBlock* next = llvm::BasicBlock::Create(context, "together", here->getParent(), one_by_one_);
    Value* all_pass = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync,
                                               {builder_.getInt32(-1), std::exchange(asked_, nullptr)});
    builder_.CreateCondBr(all_pass, next, one_by_one_, llvm::MDBuilder(context).createLikelyBranchWeights());
    builder_.SetInsertPoint(next);
  }

  void ask_alignment(llvm::Instruction& access) {
    Value* pointer = llvm::getLoadStorePointerOperand(&access);
    if (!differences_.is_row(&access) || rows_.contains(&access)) return;
    if (!is_written(pointer)) return;  // not yet
    rows_.insert(&access);
    const std::uint64_t alignment = row_alignment(access, count_);
    if (llvm::getKnownAlignment(of(pointer, 0), access.getDataLayout()).value() >= alignment) return;
    if (!asked_alignments_.insert({pointer, alignment}).second) return;
    Value* low =
        builder_.CreateTrunc(builder_.CreatePtrToInt(of(pointer, 0), builder_.getInt64Ty()), builder_.getInt32Ty());
    ask(builder_.CreateICmpEQ(builder_.CreateAnd(low, builder_.getInt32(static_cast<std::uint32_t>(alignment - 1))),
                              builder_.getInt32(0)));
  }

  void access_row(llvm::Instruction& access) {
    Value* first = of(llvm::getLoadStorePointerOperand(&access), 0);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      several_[&access] = load_row(builder_, *load, first, count_);
      return;
    }
    auto& store = llvm::cast<llvm::StoreInst>(access);
    std::vector<Value*> values;
    for (unsigned j = 0; j < count_; ++j) values.push_back(of(store.getValueOperand(), j));
    store_row(builder_, store, first, values);
  }

  const Plan& plan_;
  const Differences& differences_;
  const unsigned count_;
  llvm::BasicBlock* one_by_one_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<Value*, Value*> same_;
  llvm::DenseMap<Value*, std::vector<Value*>> several_;
  llvm::SmallPtrSet<llvm::Instruction*, 8> rows_;
  llvm::DenseSet<std::pair<Value*, std::uint64_t>> asked_alignments_;
  Value* asked_ = nullptr;
};

}  // namespace

bool threads_are_alone(const llvm::Module& module, const KernelInfo& info) {
  for (const ArgumentInfo& argument : info.arguments) {
    if (argument.kind != ArgumentKind::buffer && argument.kind != ArgumentKind::builtin) return false;
  }
  for (const llvm::GlobalVariable& variable : module.globals()) {
    if (variable.getAddressSpace() == threadgroup_space) return false;
  }
  for (const llvm::Function& function : module) {
    if (function.empty()) continue;
    if (function.getName() != info.symbol) return false;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (instruction.isAtomic()) return false;
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && (call->isConvergent() || (!llvm::isa<llvm::IntrinsicInst>(call) && !call->doesNotAccessMemory()))) {
        return false;
      }
    }
  }
  return true;
}

std::uint32_t join_threads(Entry& entry) {
  llvm::Function& function = *entry.function;
  auto path = path_of(function);
  if (!path) return 0;
  auto* thread_x = llvm::cast<llvm::CallInst>(entry.thread_x);
  const Differences differences(*path, *thread_x, offsetof(LaunchHead, threads_per_threadgroup));
  Plan plan(std::move(*path), differences);
  const unsigned count = plan.threads();
  if (count == 0) return 0;

  llvm::LLVMContext& context = function.getContext();
  llvm::BasicBlock* alone = &function.getEntryBlock();
  llvm::SmallVector<llvm::ReturnInst*, 4> returns;
  for (llvm::BasicBlock& block : function) {
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(end);
  }
  const auto new_block = [&](const char* name, llvm::BasicBlock* before) {
    return llvm::BasicBlock::Create(context, name, &function, before);
  };
  llvm::BasicBlock *begin = new_block("begin", alone), *turn = new_block("turn", alone);
  llvm::BasicBlock *next = new_block("next_turn", nullptr), *done = new_block("done", nullptr);
  llvm::IRBuilder<> builder(begin);
  builder.SetCurrentDebugLocation(thread_x->getDebugLoc());
  const auto number = [&](llvm::Intrinsic::ID name) { return builder.CreateIntrinsic(name, {}); };
  // Of grids that takes() takes none wraps.
  const auto add = [&](Value* a, Value* b) { return builder.CreateAdd(a, b, "", true, true); };
  const auto multiply = [&](Value* a, Value* b) { return builder.CreateMul(a, b, "", true, true); };
  Value* size = number(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value* thread = number(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
  Value* own = add(multiply(number(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), size), thread);
  Value* first = multiply(own, builder.getInt32(count));
  Together(plan, differences, count, first, begin, turn, *thread_x).write();

  builder.SetInsertPoint(turn);
  llvm::PHINode* j = builder.CreatePHI(builder.getInt32Ty(), 2);
  // A warp, or its part of a row, takes neighbours together and goes on behind them.
  Value* row = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, builder.getInt32(lanes));
  Value* lane = builder.CreateAnd(thread, builder.getInt32(lanes - 1));
  Value* warp = multiply(builder.CreateSub(own, lane, "", true, true), builder.getInt32(count));
  Value* x = add(warp, add(multiply(j, row), lane));
  builder.CreateBr(alone);
  builder.SetInsertPoint(next);
  Value* following = add(j, builder.getInt32(1));
  llvm::BranchInst* again = builder.CreateCondBr(builder.CreateICmpEQ(following, builder.getInt32(count)), done, turn);
  llvm::MDNode* as_it_stands = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, as_it_stands});
  loop->replaceOperandWith(0, loop);
  again->setMetadata(llvm::LLVMContext::MD_loop, loop);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  for (llvm::BasicBlock* before : llvm::predecessors(turn)) {
    if (before == next) {
      j->addIncoming(following, next);
    } else {
      j->addIncoming(builder.getInt32(0), before);
    }
  }
  for (llvm::ReturnInst* end : returns) {
    llvm::BranchInst::Create(next, end->getIterator());
    end->eraseFromParent();
  }
  llvm::Function* query = thread_x->getCalledFunction();
  thread_x->replaceAllUsesWith(x);
  thread_x->eraseFromParent();
  entry.thread_x = x;
  if (query && query->use_empty()) query->eraseFromParent();
  return count;
}

}  // namespace metalloid::engines::cuda
