#include "ir/passes/inline_choice.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <limits>

#include "ir/operations.h"
#include "ir/support/pass_down.h"

namespace metalloid::ir {
namespace {

using Size = std::uint64_t;

// Instructions that LLVM takes through all passes within a second.
constexpr Size budget = 30'000;
// What is better still, where functions stay for it that are large and work on values alone: a call of one costs
// nothing that can be measured.
constexpr Size aim = 12'000, large_function = 400;
// What is given up before functions stay at which threads meet, or that are declared always_inline.
constexpr Size most = 80'000;
// Smaller functions are always inlined: a call costs as much as they do.
constexpr Size smallest_call = 100;
// Of those that are called from so many places, in a kernel that is larger than the budget all the same: products of a
// field's elements.
constexpr Size smallest_of_many = 6, many_calls = 200;
// Behind these, LLVM leaves a loop as it is: what its full unroller takes, with and without `#pragma unroll`.
constexpr Size most_unrolled = 400, most_unrolled_by_pragma = 16'000;
// Functions with more bytes of variables stay on no stack.
constexpr Size most_variables = 32 * 1024;
constexpr Size endless = std::numeric_limits<Size>::max() / 4;

bool is_code(const llvm::Instruction& instruction) {
  return !instruction.isDebugOrPseudoInst() && !instruction.isLifetimeStartOrEnd() &&
         !llvm::isa<llvm::AllocaInst>(instruction);
}

struct Call {
  llvm::Function* callee;
  Size times;  // copies of the call once loops are unrolled
};

// A function by itself, without what it calls.
struct Body {
  Size size = 0;
  Size variables = 0;
  llvm::SmallVector<Call, 8> calls;
};

bool asks_for_unrolling(const llvm::Loop& loop) {
  llvm::MDNode* id = loop.getLoopID();
  if (!id) return false;
  for (unsigned i = 1; i < id->getNumOperands(); ++i) {
    const auto* node = llvm::dyn_cast<llvm::MDNode>(id->getOperand(i));
    const auto* name =
        node && node->getNumOperands() > 0 ? llvm::dyn_cast<llvm::MDString>(node->getOperand(0)) : nullptr;
    if (name && (name->getString() == "llvm.loop.unroll.full" || name->getString() == "llvm.loop.unroll.enable" ||
                 name->getString() == "llvm.loop.unroll.count")) {
      return true;
    }
  }
  return false;
}

class Measure {
 public:
  Measure(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : loops_(analyses.getResult<llvm::LoopAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)) {
    for (llvm::Loop* loop : loops_) unroll(*loop);
    for (llvm::BasicBlock& block : function) {
      const Size times = times_of(block);
      for (llvm::Instruction& instruction : block) {
        if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
          const auto bytes = variable->getAllocationSize(function.getDataLayout());
          body_.variables += bytes ? bytes->getFixedValue() : 0;
        }
        if (!is_code(instruction)) continue;
        body_.size += times;
        if (llvm::Function* callee = called_definition(instruction)) body_.calls.push_back({callee, times});
      }
    }
  }
  const Body& body() const { return body_; }

 private:
  Size times_of(const llvm::BasicBlock& block) const {
    const llvm::Loop* loop = loops_.getLoopFor(&block);
    return loop ? copies_.lookup(loop) : 1;
  }

  // Inner loops first, as LLVM unrolls them. Returns the loop's size behind unrolling.
  Size unroll(llvm::Loop& loop) {
    Size size = 0;
    for (llvm::Loop* inner : loop) size += unroll(*inner);
    for (llvm::BasicBlock* block : loop.blocks()) {
      if (loops_.getLoopFor(block) == &loop) size += llvm::count_if(*block, is_code);
    }
    const Size trips = evolution_.getSmallConstantMaxTripCount(&loop);
    const Size limit = asks_for_unrolling(loop) ? most_unrolled_by_pragma : most_unrolled;
    const Size copies = trips > 0 && trips * size <= limit ? trips : 1;
    multiply(loop, copies);
    return size * copies;
  }

  void multiply(llvm::Loop& loop, Size copies) {
    Size& own = copies_.try_emplace(&loop, 1).first->second;
    own *= copies;
    for (llvm::Loop* inner : loop) multiply(*inner, copies);
  }

  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::DenseMap<const llvm::Loop*, Size> copies_;
  Body body_;
};

// What may stay a call: functions from this size on, and of which kinds.
struct Rule {
  Size smallest;
  bool where_threads_meet, always_inline;
  Size smallest_of_values = endless;  // that are handed no address of buffers, and at which no threads meet
};

bool works_on_values(const llvm::Function& function) {
  return llvm::none_of(function.args(), [](const llvm::Argument& argument) {
    const auto* type = llvm::dyn_cast<llvm::PointerType>(argument.getType());
    return type && type->getAddressSpace() != 0;
  });
}

class Choice {
 public:
  Choice(llvm::ArrayRef<llvm::Function*> order, llvm::Function& kernel, const FunctionSet& recursive,
         const FunctionSet& never_kept, llvm::FunctionAnalysisManager& analyses)
      : order_(order),
        kernel_(kernel),
        recursive_(recursive),
        never_kept_(never_kept),
        meeting_(functions_that_lead_to(*kernel.getParent(), [](llvm::StringRef name) { return is_meeting(name); })) {
    for (llvm::Function* function : order) bodies_[function] = Measure(*function, analyses).body();
    for (auto& [function, body] : bodies_) {
      for (const Call& call : body.calls) sites_[call.callee] += call.times;
    }
  }

  FunctionSet run() {
    Rule rule = within_budget();
    FunctionSet best = kept_;
    Size best_size = size_;
    for (Size smallest = 6400; best_size > aim && smallest >= large_function; smallest /= 2) {
      rule.smallest_of_values = smallest;
      if (apply(rule) >= best_size) continue;
      best_size = size_;
      best = kept_;
    }
    for (Size smallest = smallest_call / 2; best_size > budget && smallest >= smallest_of_many; smallest /= 2) {
      if (apply({smallest, false, false}) >= best_size) continue;
      best_size = size_;
      best = kept_;
    }
    return best;
  }

 private:
  // What is applied when it returns.
  Rule within_budget() {
    Rule best = {endless, false, false};
    Size best_size = apply(best);
    if (best_size <= budget) return best;
    for (const auto& [meet, always] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
      for (Size smallest = 6400; smallest >= smallest_call; smallest /= 2) {
        const Rule rule = {smallest, meet, always};
        if (apply(rule) <= budget) return rule;
        if (size_ < best_size) {
          best_size = size_;
          best = rule;
        }
      }
      if (best_size <= most) break;
    }
    apply(best);
    return best;
  }

  bool stays(llvm::Function& function, const Rule& rule, Size size) const {
    const Body& body = bodies_.at(&function);
    if (&function == &kernel_ || never_kept_.contains(&function) || body.variables > most_variables) return false;
    if (function.hasFnAttribute(llvm::Attribute::NoInline)) return true;
    if (meeting_.contains(&function) && !rule.where_threads_meet) return false;
    if (function.hasFnAttribute(llvm::Attribute::AlwaysInline) && !rule.always_inline) return false;
    const bool is_free = works_on_values(function) && !meeting_.contains(&function) &&
                         !function.hasFnAttribute(llvm::Attribute::AlwaysInline);
    const Size smallest = is_free ? std::min(rule.smallest, rule.smallest_of_values) : rule.smallest;
    return size >= smallest && sites_.lookup(&function) >= (size < smallest_call ? many_calls : 2);
  }

  // The kernel's size under a rule; kept_ is what stays.
  Size apply(const Rule& rule) {
    kept_.clear();
    llvm::DenseMap<llvm::Function*, Size> sizes;  // of what a call brings along
    size_ = 0;
    for (llvm::Function* function : order_) {
      const Body& body = bodies_.at(function);
      Size size = body.size;
      for (const Call& call : body.calls) size = std::min(endless, size + call.times * sizes.lookup(call.callee));
      const bool is_recursive = recursive_.contains(function);
      if (is_recursive || function == &kernel_ || stays(*function, rule, size)) {
        if (!is_recursive && function != &kernel_) kept_.insert(function);
        size_ = std::min(endless, size_ + size);
        size = body_of_call;
      }
      sizes[function] = size;
    }
    return size_;
  }

  static constexpr Size body_of_call = 4;
  llvm::ArrayRef<llvm::Function*> order_;
  llvm::Function& kernel_;
  const FunctionSet &recursive_, &never_kept_;
  FunctionSet meeting_;
  llvm::DenseMap<llvm::Function*, Body> bodies_;
  llvm::DenseMap<llvm::Function*, Size> sites_;
  FunctionSet kept_;
  Size size_ = 0;
};

}  // namespace

FunctionSet functions_that_lead_to(llvm::Module& module, support::function_ref<bool(llvm::StringRef)> is_wanted) {
  FunctionSet result;
  llvm::SmallVector<llvm::Function*, 16> work;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() && is_wanted(function.getName())) work.push_back(&function);
  }
  while (!work.empty()) {
    for (llvm::User* user : work.pop_back_val()->users()) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call && result.insert(call->getFunction()).second) work.push_back(call->getFunction());
    }
  }
  return result;
}

FunctionSet choose_calls(llvm::ArrayRef<llvm::Function*> order, llvm::Function& kernel, const FunctionSet& recursive,
                         const FunctionSet& never_kept, llvm::FunctionAnalysisManager& analyses) {
  return Choice(order, kernel, recursive, never_kept, analyses).run();
}

bool may_be_large(llvm::ArrayRef<llvm::Function*> order, llvm::Function& kernel, const FunctionSet& recursive) {
  constexpr Size no_doubt = 4000;  // leaves room for loops that get unrolled
  llvm::DenseMap<llvm::Function*, Size> sizes;
  for (llvm::Function* function : order) {
    Size size = 0;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      size += is_code(instruction);
      llvm::Function* callee = called_definition(instruction);
      if (callee && !recursive.contains(callee)) size = std::min(endless, size + sizes.lookup(callee));
    }
    sizes[function] = size;
  }
  return sizes.lookup(&kernel) > no_doubt;
}

}  // namespace metalloid::ir
