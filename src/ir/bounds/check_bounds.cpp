#include "ir/bounds/check_bounds.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/bounds/accesses.h"
#include "ir/bounds/thread_overruns.h"
#include "ir/support/move_code.h"
#include "ir/support/pointer_roots.h"
#include "ir/support/pointer_tags.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

using llvm::Instruction;
using llvm::Value;

std::optional<std::uint64_t> constant_of(const Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!number || number->getBitWidth() > 64) return std::nullopt;
  return number->getZExtValue();
}

// Bytes of one block that are checked at once.
struct Check {
  Instruction* at;  // the first access
  Value *available, *front, *what;
  const llvm::SCEV* base;          // of the offset, without its constant
  std::int64_t low = 0, high = 0;  // behind the base
  Value *offset = nullptr, *bytes = nullptr;
  std::int64_t offset_at = 0;  // what `offset` is behind the base
  std::string first{}, last{};
  bool is_fixed = true;  // how many bytes
};

class BoundsChecks {
 public:
  BoundsChecks(llvm::Function& function, const KernelInfo& info, KernelMemory& memory,
               llvm::FunctionAnalysisManager& analyses)
      : function_(function),
        layout_(function.getDataLayout()),
        arguments_(info.arguments),
        memory_(memory),
        left_out_(*function.getParent()),
        roots_(function, [this](Value& root) { return describe(root); }),
        number_(llvm::Type::getInt64Ty(function.getContext())),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)),
        dominators_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        after_(analyses.getResult<llvm::PostDominatorTreeAnalysis>(function)),
        loops_(analyses.getResult<llvm::LoopAnalysis>(function)) {}

  void run() {
    std::vector<Access> accesses;
    for (Instruction& instruction : llvm::instructions(function_)) {
      for (const Access& access : accesses_of(instruction, layout_)) accesses.push_back(access);
      for (const Access& access : memory_.other_accesses_of(instruction)) accesses.push_back(access);
    }
    for (const Access& access : accesses) note(access);
    drop_repeated();
    for (Check& check : checks_) place(check);
    left_out_.leave_out();
    for (llvm::WeakTrackingVH& offset : offsets_) {
      if (offset) llvm::RecursivelyDeleteTriviallyDeadInstructions(offset);
    }
    for (llvm::BasicBlock& block : function_) llvm::DeleteDeadPHIs(&block);
  }

 private:
  std::optional<PointerRoots::Root> describe(Value& root) {
    const auto of = [&](Value* bytes, Value* front, const std::string& text) -> PointerRoots::Root {
      return {{bytes, front, text_of(text)}, nullptr};
    };
    const auto variable = [&](const char* kind, std::uint64_t bytes) {
      return of(llvm::ConstantInt::get(number_, bytes), nothing(), fmt::format("{} {}", kind, name_of_variable(root)));
    };
    if (auto* own = llvm::dyn_cast<llvm::AllocaInst>(&root)) {
      const auto bytes = own->getAllocationSize(layout_);
      if (!bytes || own->getMetadata("metalloid.of_simdgroup")) return std::nullopt;
      return variable("variable", bytes->getFixedValue());
    }
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&root)) {
      const std::uint64_t bytes = layout_.getTypeAllocSize(global->getValueType()).getFixedValue();
      const unsigned space = global->getAddressSpace();
      const char* kind = space == threadgroup_space ? "threadgroup" : space == constant_space ? "constant" : "variable";
      return variable(kind, bytes);
    }
    Value* tag = arguments_.empty() ? nullptr : tag_of(root);
    if (tag) return tagged(root, *llvm::cast<Instruction>(tag));
    const auto argument = memory_.find(root);
    if (!argument) return std::nullopt;
    const auto extent = memory_.extent_of(*argument);
    return of(extent.bytes, extent.front, fmt::format("argument {}", *argument));
  }

  // An address in a function that stays a call, whose tag is an argument's number and one.
  PointerRoots::Root tagged(Value& address, Instruction& tag) {
    llvm::Module& module = *function_.getParent();
    llvm::IRBuilder<> builder(tag.getNextNode());
    llvm::Type *word = builder.getInt64Ty(), *pointer = builder.getPtrTy();
    std::vector<llvm::Constant*> texts;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      texts.push_back(llvm::cast<llvm::Constant>(text_of(fmt::format("argument {}", i))));
    }
    auto* type = llvm::ArrayType::get(pointer, texts.size());
    auto* names = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                           llvm::ConstantArray::get(type, texts), "names");
    Value* number = builder.CreateSub(&tag, builder.getInt64(1));
    Value* is_known = builder.CreateICmpULT(number, builder.getInt64(texts.size()));
    number = builder.CreateSelect(is_known, number, builder.getInt64(0));
    const auto [extent, begin] = memory_.of_number(builder, number);
    Value* bytes = builder.CreateSelect(is_known, extent.bytes, llvm::ConstantInt::getAllOnesValue(word));
    // Any offset will do where all that there is belongs to nobody.
    Value* from = builder.CreateSelect(is_known, begin, builder.getInt64(0));
    Value* offset = builder.CreateSub(builder.CreatePtrToInt(&address, word), from);
    Value* name = builder.CreateLoad(pointer, builder.CreateInBoundsGEP(pointer, names, number));
    return {{bytes, extent.front, name}, offset};
  }

  // Where it stands that nothing is in front of variables.
  Value* nothing() {
    if (!nothing_) {
      nothing_ =
          new llvm::GlobalVariable(*function_.getParent(), number_, /*isConstant=*/true,
                                   llvm::GlobalValue::PrivateLinkage, llvm::ConstantInt::get(number_, 0), "nothing");
    }
    return nothing_;
  }

  Value* text_of(const std::string& text) {
    Value*& made = texts_[text];
    if (!made) {
      llvm::IRBuilder<> builder(&function_.getEntryBlock());
      made = builder.CreateGlobalString(text, "bounds");
    }
    return made;
  }

  void note(const Access& access) {
    const auto values = roots_.values_of(access.pointer);
    if (!values || values->empty()) return;
    const auto bytes = constant_of(access.bytes);
    if (bytes && *bytes == 0) return;
    Value* offset = roots_.offset_of(access.pointer);
    if (llvm::isa<Instruction>(offset)) offsets_.push_back(offset);
    Value *available = (*values)[0], *front = (*values)[1], *what = (*values)[2];
    if (bytes && is_proven(access, offset, *bytes, available)) return;
    if (left_out_.take(access, offset, available)) return;
    const std::string text =
        fmt::format("{}{} {}", static_cast<char>(access.kind), bytes.value_or(0), line_of(*access.instruction));
    const llvm::SCEV* whole = evolution_.getSCEV(offset);
    std::int64_t further = 0;
    const llvm::SCEV* base = without_constant(whole, further);
    Check check{.at = access.instruction, .available = available, .front = front, .what = what, .base = base};
    check.offset = offset;
    check.offset_at = further;
    check.bytes = access.bytes;
    check.first = check.last = text;
    check.is_fixed = bytes.has_value();
    if (bytes && *bytes < (std::uint64_t{1} << 40)) {
      check.low = further;
      check.high = further + static_cast<std::int64_t>(*bytes);
    }
    checks_.push_back(std::move(check));
  }

  // What a sum, or a loop's counter at its start, is more by than something else.
  static const llvm::SCEVConstant* constant_part(const llvm::SCEV* whole) {
    while (const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(whole)) whole = counter->getStart();
    if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(whole)) whole = sum->getOperand(0);
    const auto* number = llvm::dyn_cast<llvm::SCEVConstant>(whole);
    return number && number->getAPInt().getSignificantBits() <= 40 ? number : nullptr;
  }

  const llvm::SCEV* without_constant(const llvm::SCEV* whole, std::int64_t& further) {
    const llvm::SCEVConstant* number = constant_part(whole);
    further = number ? number->getAPInt().getSExtValue() : 0;
    return number ? evolution_.getMinusSCEV(whole, number) : whole;
  }

  bool is_proven(const Access& access, Value* offset, std::uint64_t bytes, Value* available) {
    std::optional<std::uint64_t> size = constant_of(available);
    if (!size) {
      // Whatever is bound to a reference has the size of its type (runtime/dispatch/plan.cpp).
      const auto argument = memory_.find(*root_of(access.pointer));
      if (!argument || !arguments_[*argument].is_reference || !arguments_[*argument].is_active) return false;
      size = arguments_[*argument].type.size;
    }
    if (*size < bytes) return false;
    const llvm::SCEV* whole = evolution_.getSCEV(offset);
    if (largest_at(whole, *access.instruction).ule(*size - bytes)) return true;
    const llvm::SCEV* most = evolution_.getConstant(number_, *size - bytes);
    return evolution_.isKnownPredicateAt(llvm::CmpInst::ICMP_ULE, whole, most, access.instruction);
  }

  // As unsigned. What a loop's counter is in the last turn is what it is beyond the loop's condition: `i < 8` in its
  // first block leaves 7 for the rest of it, while the counter itself goes to 8.
  llvm::APInt largest_at(const llvm::SCEV* whole, const Instruction& at, unsigned depth = 0) {
    llvm::APInt largest = evolution_.getUnsignedRangeMax(whole);
    if (depth == 8) return largest;
    bool overflows = false;
    std::optional<llvm::APInt> sum;
    const auto of = [&](const llvm::SCEV* part) { return largest_at(part, at, depth + 1); };
    if (const auto* wider = llvm::dyn_cast<llvm::SCEVZeroExtendExpr>(whole)) {
      sum = of(wider->getOperand()).zext(largest.getBitWidth());
    } else if (const auto* counter = llvm::dyn_cast<llvm::SCEVAddRecExpr>(whole)) {
      const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(counter->getOperand(1));
      const std::optional<std::uint64_t> turn =
          counter->isAffine() && step ? last_turn(*counter->getLoop(), at) : std::nullopt;
      if (!turn || !llvm::isUIntN(largest.getBitWidth(), *turn)) return largest;
      const llvm::APInt turns(largest.getBitWidth(), *turn);
      bool overflows_too = false;
      sum = of(counter->getStart()).uadd_ov(step->getAPInt().umul_ov(turns, overflows), overflows_too);
      overflows |= overflows_too;
    } else if (llvm::isa<llvm::SCEVAddExpr, llvm::SCEVMulExpr>(whole)) {
      for (const llvm::SCEV* part : whole->operands()) {
        bool overflows_here = false;
        sum = !sum                                  ? of(part)
              : llvm::isa<llvm::SCEVAddExpr>(whole) ? sum->uadd_ov(of(part), overflows_here)
                                                    : sum->umul_ov(of(part), overflows_here);
        overflows |= overflows_here;
      }
    }
    return sum && !overflows ? llvm::APIntOps::umin(largest, *sum) : largest;
  }

  // The last turn of a loop, counted from 0, in which an instruction of it runs; nothing where nobody knows.
  std::optional<std::uint64_t> last_turn(const llvm::Loop& loop, const Instruction& at) {
    if (!loop.contains(&at)) return std::nullopt;
    std::optional<std::uint64_t> last;
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    loop.getExitingBlocks(exits);
    for (llvm::BasicBlock* block : exits) {
      const auto* turns = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getExitCount(&loop, block));
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!turns || !branch || turns->getAPInt().isZero() || turns->getAPInt().getActiveBits() > 63) continue;
      llvm::BasicBlock* stays = branch->getSuccessor(loop.contains(branch->getSuccessor(0)) ? 0 : 1);
      if (!dominators_.dominates(llvm::BasicBlockEdge(block, stays), at.getParent())) continue;
      const std::uint64_t turn = turns->getAPInt().getZExtValue() - 1;
      last = std::min(last.value_or(turn), turn);
    }
    return last;
  }

  static Value* root_of(Value* pointer) {
    while (Value* below = pointer_below(pointer)) pointer = below;
    return pointer;
  }

  static bool is_same_memory(const Check& a, const Check& b) {
    return a.base == b.base && a.available == b.available && a.what == b.what && a.is_fixed && b.is_fixed;
  }

  // Checks whose bytes an earlier one covers go away. One that is sure to follow an earlier one makes that one wider.
  void drop_repeated() {
    llvm::DenseMap<const llvm::SCEV*, llvm::SmallVector<std::size_t, 4>> known;
    std::vector<bool> dropped(checks_.size());
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      Check& own = checks_[i];
      auto& others = known[own.base];
      for (const std::size_t other : others) {
        Check& before = checks_[other];
        if (!is_same_memory(before, own) || !dominators_.dominates(before.at, own.at)) continue;
        // Beyond its loop a value is that of the last turn, which the check need not have seen.
        const llvm::Loop* loop = loops_.getLoopFor(before.at->getParent());
        if (loop && !loop->contains(own.at)) continue;
        if (own.low >= before.low && own.high <= before.high) {
          dropped[i] = true;
          break;
        }
        if (!is_sure_to_follow(*before.at, *own.at)) continue;
        if (own.low < before.low) {
          before.low = own.low;
          before.first = own.first;
        }
        if (own.high > before.high) {
          before.high = own.high;
          before.last = own.last;
        }
        dropped[i] = true;
        break;
      }
      if (!dropped[i]) others.push_back(i);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < checks_.size(); ++i) {
      if (!dropped[i]) std::swap(checks_[kept++], checks_[i]);
    }
    checks_.resize(kept);
  }

  bool is_sure_to_follow(const Instruction& first, const Instruction& second) const {
    const llvm::BasicBlock *a = first.getParent(), *b = second.getParent();
    return a == b || (loops_.getLoopFor(a) == loops_.getLoopFor(b) && after_.dominates(b, a));
  }

  // In front of what stands first among the accesses and calls of the block that the operands can come before.
  Instruction* place_for(const Check& check) {
    Instruction* place = check.at;
    for (Instruction* other = place->getPrevNode(); other; other = other->getPrevNode()) {
      if (llvm::isa<llvm::PHINode>(other)) break;
      const bool is_check = as_bounds_check(*other) != nullptr;
      if (llvm::isa<llvm::CallBase>(other) && !is_check && other->mayHaveSideEffects()) break;
      if (!other->mayReadOrWriteMemory()) continue;
      // Behind what every thread begins with: its index among that.
      auto* load = llvm::dyn_cast<llvm::LoadInst>(other);
      if (load && memory_.is_of_start(*load)) break;
      if (is_check) continue;
      const llvm::SmallVector<Value*, 4> operands = {check.offset, check.bytes, check.available, check.front,
                                                     check.what};
      if (!llvm::all_of(operands, [&](Value* operand) { return can_be_at(operand, *other); })) break;
      place = other;
    }
    return place;
  }

  void place(Check& check) {
    Instruction* place = place_for(check);
    for (Value* operand : {check.offset, check.bytes, check.available, check.front, check.what}) bring(operand, *place);
    llvm::IRBuilder<> builder(place);
    builder.SetCurrentDebugLocation(check.at->getDebugLoc());
    Value *offset = check.offset, *bytes = builder.CreateZExtOrTrunc(check.bytes, number_);
    if (check.is_fixed) {
      const std::int64_t difference = check.low - check.offset_at;
      if (difference != 0) offset = builder.CreateAdd(offset, builder.getInt64(static_cast<std::uint64_t>(difference)));
      bytes = builder.getInt64(static_cast<std::uint64_t>(check.high - check.low));
    }
    llvm::Type* pointer = builder.getPtrTy();
    auto callee =
        function_.getParent()->getOrInsertFunction(llvm::StringRef(check_bounds_name), builder.getVoidTy(), number_,
                                                   number_, number_, pointer, pointer, pointer, pointer);
    auto* declaration = llvm::cast<llvm::Function>(callee.getCallee());
    // Neither dropped nor in the way of accesses that become one.
    declaration->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    declaration->addFnAttr(llvm::Attribute::NoUnwind);
    declaration->addFnAttr(llvm::Attribute::WillReturn);
    builder.CreateCall(
        callee, {offset, bytes, check.available, check.front, check.what, text_of(check.first), text_of(check.last)});
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  const std::vector<ArgumentInfo>& arguments_;
  KernelMemory& memory_;
  AccessesToLeaveOut left_out_;
  PointerRoots roots_;
  llvm::Type* number_;
  llvm::ScalarEvolution& evolution_;
  const llvm::DominatorTree& dominators_;
  const llvm::PostDominatorTree& after_;
  const llvm::LoopInfo& loops_;
  std::vector<Check> checks_;
  std::vector<llvm::WeakTrackingVH> offsets_;
  std::map<std::string, Value*> texts_;
  Value* nothing_ = nullptr;
};

}  // namespace

void check_bounds(llvm::Function& function, const KernelInfo& info, KernelMemory& memory,
                  llvm::FunctionAnalysisManager& analyses) {
  BoundsChecks(function, info, memory, analyses).run();
}

llvm::CallInst* as_bounds_check(Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == llvm::StringRef(check_bounds_name) ? call : nullptr;
}

}  // namespace metalloid::ir
