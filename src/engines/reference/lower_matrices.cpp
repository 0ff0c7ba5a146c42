#include "engines/reference/lower_matrices.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engines/reference/kernel_abi.h"
#include "engines/reference/lower_threadgroup_memory.h"
#include "ir/operations.h"
#include "ir/pass_managers.h"

namespace metalloid::engines::reference {
namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned lanes = 32;

std::optional<ir::MatrixMultiply> product_of(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? ir::parse_matrix_multiply(callee->getName()) : std::nullopt;
}

// Instructions that may move behind a meeting: they touch nothing but registers.
bool only_rearranges(const Instruction& instruction) {
  return llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::CastInst>(
      instruction);
}

bool may_meet(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && call->isConvergent();
}

class Lowering {
 public:
  Lowering(llvm::Module& module, llvm::Function& entry)
      : module_(module), entry_(entry), builder_(module.getContext()) {
    llvm::Type* pointer = builder_.getPtrTy();
    locate_ = module.getOrInsertFunction(llvm::StringRef(matrix_registers_name), pointer, pointer);
    auto* locate = llvm::cast<llvm::Function>(locate_.getCallee());
    locate->addFnAttr(llvm::Attribute::NoUnwind);
    locate->addRetAttr(llvm::Attribute::NoAlias);
    meet_ = module.getOrInsertFunction(llvm::StringRef(matrices_name), builder_.getVoidTy(), pointer, pointer, pointer,
                                       pointer);
    auto* meet = llvm::cast<llvm::Function>(meet_.getCallee());
    meet->addFnAttr(llvm::Attribute::NoUnwind);
    meet->addFnAttr(llvm::Attribute::Convergent);
    meet->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  }

  std::uint32_t run() {
    for (llvm::Function& function : module_) {
      if (function.isDeclaration()) continue;
      registers_ = nullptr;
      for (llvm::BasicBlock& block : function) run_on(block);
    }
    return most_used_;
  }

 private:
  void run_on(llvm::BasicBlock& block) {
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (auto product = product_of(instruction)) {
        add(llvm::cast<llvm::CallInst>(instruction), *product);
      } else if (only_rearranges(instruction) && uses_result(instruction)) {
        results_.insert(&instruction);
        moved_.push_back(&instruction);
      } else if (may_meet(instruction) || instruction.isTerminator() || uses_result(instruction)) {
        meet_before(instruction);
      }
    }
  }

  bool uses_result(const Instruction& instruction) const {
    return llvm::any_of(instruction.operands(), [&](const llvm::Use& use) { return results_.contains(use.get()); });
  }

  void add(llvm::CallInst& call, const ir::MatrixMultiply& product) {
    if (!joins(call)) meet_before(call);
    // Only now: the meeting replaces its results in the operands.
    Value *a = call.getArgOperand(0), *b = call.getArgOperand(1), *c = call.getArgOperand(2);
    const auto chained = accumulators_.find(c);
    const std::uint32_t into =
        chained != accumulators_.end() ? chained->second : new_register(c, ir::MatrixElement::f32);
    const std::uint32_t from = factor(a, product.a), by = factor(b, product.b);
    steps_.push_back({from, by, into});
    accumulators_[&call] = into;
    results_.insert(&call);
    calls_.push_back(&call);
  }

  // True if the product needs nothing that the waiting ones yield, but for a sum that only it goes on with.
  bool joins(const llvm::CallInst& call) const {
    const Value* c = call.getArgOperand(2);
    const bool chain = accumulators_.contains(c) && c->hasOneUse();
    return !results_.contains(call.getArgOperand(0)) && !results_.contains(call.getArgOperand(1)) &&
           (chain || !results_.contains(c)) && values_.size() + 3 <= most_matrix_registers;
  }

  std::uint32_t factor(Value* value, ir::MatrixElement element) {
    auto [entry, fresh] = factors_.try_emplace({value, static_cast<int>(element)}, 0);
    if (fresh) entry->second = new_register(value, element);
    return entry->second;
  }

  std::uint32_t new_register(Value* value, ir::MatrixElement element) {
    values_.push_back({value, element});
    return static_cast<std::uint32_t>(values_.size() - 1);
  }

  // Pairs of f16 or bf16 become pairs of floats.
  Value* as_floats(Value* value, ir::MatrixElement element) {
    auto* floats = llvm::FixedVectorType::get(builder_.getFloatTy(), 2);
    if (element == ir::MatrixElement::f16) return builder_.CreateFPExt(value, floats);
    if (element == ir::MatrixElement::f32) return value;
    auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), 2);
    return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateZExt(value, words), 16), floats);
  }

  Value* address(std::uint32_t number) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), registers_, std::uint64_t{number} * lanes);
  }

  llvm::GlobalVariable* make_program() {
    std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(values_.size()),
                                        static_cast<std::uint32_t>(steps_.size())};
    for (const MatrixStep& step : steps_) words.insert(words.end(), {step.a, step.b, step.c});
    llvm::Constant* table = llvm::ConstantDataArray::get(module_.getContext(), words);
    return new llvm::GlobalVariable(module_, table->getType(), true, llvm::GlobalValue::InternalLinkage, table,
                                    "metalloid_matrix_program");
  }

  void locate_registers(llvm::Function& function) {
    Value* state = state_in(function, entry_);
    auto position = function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    if (auto* instruction = llvm::dyn_cast<Instruction>(state)) position = std::next(instruction->getIterator());
    llvm::IRBuilder<> builder(&function.getEntryBlock(), position);
    registers_ = builder.CreateCall(locate_, {state});
  }

  void meet_before(Instruction& next) {
    if (steps_.empty()) return;
    if (!registers_) locate_registers(*next.getFunction());
    builder_.SetInsertPoint(&next);
    builder_.SetCurrentDebugLocation(calls_.back()->getDebugLoc());
    for (std::uint32_t r = 0; r < values_.size(); ++r) {
      builder_.CreateAlignedStore(as_floats(values_[r].first, values_[r].second), address(r), llvm::Align(8));
    }
    auto* null = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    builder_.CreateCall(meet_, {null, null, make_program(), registers_});
    for (llvm::CallInst* call : llvm::reverse(calls_)) {
      // What only the next product of a chain used is gone with it.
      if (!call->use_empty()) {
        call->replaceAllUsesWith(
            builder_.CreateAlignedLoad(call->getType(), address(accumulators_[call]), llvm::Align(8)));
      }
      call->eraseFromParent();
    }
    for (Instruction* instruction : moved_) instruction->moveBefore(next.getIterator());
    most_used_ = std::max(most_used_, static_cast<std::uint32_t>(values_.size()));
    values_.clear();
    factors_.clear();
    accumulators_.clear();
    steps_.clear();
    results_.clear();
    calls_.clear();
    moved_.clear();
  }

  llvm::Module& module_;
  llvm::Function& entry_;
  llvm::IRBuilder<> builder_;
  llvm::FunctionCallee locate_, meet_;
  Value* registers_ = nullptr;  // in the function at hand
  std::uint32_t most_used_ = 0;
  // The products that wait for their meeting.
  std::vector<std::pair<Value*, ir::MatrixElement>> values_;  // that registers start with
  llvm::DenseMap<std::pair<Value*, int>, std::uint32_t> factors_;
  llvm::DenseMap<const Value*, std::uint32_t> accumulators_;
  std::vector<MatrixStep> steps_;
  llvm::DenseSet<const Value*> results_;  // of the products and of what was moved
  std::vector<llvm::CallInst*> calls_;
  std::vector<Instruction*> moved_;
};

}  // namespace

bool uses_matrices(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return ir::parse_matrix_multiply(function.getName()) && !function.use_empty();
  });
}

void unroll_tiles(llvm::Module& module, llvm::TargetMachine& machine) {
  ir::PassManagers managers(&machine);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(managers.builder.buildFunctionSimplificationPipeline(
      llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)));
  passes.run(module, managers.modules);
}

std::uint32_t lower_matrices(llvm::Module& module, llvm::Function& entry) { return Lowering(module, entry).run(); }

}  // namespace metalloid::engines::reference
