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
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engines/cpu/passes/thread_state.h"
#include "engines/cpu/run/matrices.h"
#include "engines/reference/meeting_abi.h"
#include "ir/operations.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::reference {
namespace {

using cpu::MatrixProgram;
using cpu::MatrixStep;
using cpu::most_matrix_registers;

using llvm::Instruction;
using llvm::Value;

constexpr unsigned lanes = 32;

std::optional<ir::MatrixOperation> operation_of(const Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? ir::parse_matrix_operation(callee->getName()) : std::nullopt;
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
  struct Result {
    llvm::CallInst* call;
    std::uint32_t in;  // the register
    ir::MatrixElement element;
  };

  void run_on(llvm::BasicBlock& block) {
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (auto operation = operation_of(instruction)) {
        add(llvm::cast<llvm::CallInst>(instruction), *operation);
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

  void add(llvm::CallInst& call, const ir::MatrixOperation& operation) {
    const bool multiplies = operation.action == ir::MatrixAction::multiply_accumulate;
    const unsigned factors = operation.action == ir::MatrixAction::transpose ? 1 : 2;
    if (!joins(call, multiplies, factors)) meet_before(call);
    // Only now: the meeting replaces its results in the operands.
    const std::uint32_t a = factor(call.getArgOperand(0), operation.a);
    const std::uint32_t b = factors == 2 ? factor(call.getArgOperand(1), operation.b) : a;
    std::uint32_t into;
    if (multiplies) {
      Value* c = call.getArgOperand(2);
      const auto chained = sums_.find(c);
      into = chained != sums_.end() ? chained->second : new_register(c, ir::MatrixElement::f32);
      sums_[&call] = into;
    } else {
      into = new_register(nullptr, operation.a);
      rearranged_[&call] = into;
    }
    steps_.push_back({static_cast<std::uint32_t>(operation.action), a, b, into});
    results_.insert(&call);
    calls_.push_back({&call, into, multiplies ? ir::MatrixElement::f32 : operation.a});
  }

  // True if the operation needs nothing that the waiting ones yield, but for matrices that they rearrange, which keep
  // their registers, and for a sum that only it goes on with.
  bool joins(const llvm::CallInst& call, bool multiplies, unsigned factors) const {
    auto waits_for = [&](const Value* value) { return results_.contains(value) && !rearranged_.contains(value); };
    for (unsigned i = 0; i < factors; ++i) {
      if (waits_for(call.getArgOperand(i))) return false;
    }
    if (multiplies) {
      const Value* c = call.getArgOperand(2);
      const bool chain = sums_.contains(c) && c->hasOneUse();
      if (!chain && results_.contains(c)) return false;
    }
    return values_.size() + 3 <= most_matrix_registers;
  }

  std::uint32_t factor(Value* value, ir::MatrixElement element) {
    if (const auto made = rearranged_.find(value); made != rearranged_.end()) return made->second;
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

  // The other way round, which is exact for what as_floats made.
  Value* from_floats(Value* value, ir::MatrixElement element) {
    if (element == ir::MatrixElement::f16) {
      return builder_.CreateFPTrunc(value, llvm::FixedVectorType::get(builder_.getHalfTy(), 2));
    }
    if (element == ir::MatrixElement::f32) return value;
    auto* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), 2);
    auto* halves = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2);
    return builder_.CreateTrunc(builder_.CreateLShr(builder_.CreateBitCast(value, words), 16), halves);
  }

  Value* address(std::uint32_t number) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), registers_, std::uint64_t{number} * lanes);
  }

  // Whether anything but a waiting operation uses the result.
  bool is_read(const llvm::CallInst& call) const {
    return llvm::any_of(call.users(), [&](const llvm::User* user) {
      return llvm::none_of(calls_, [&](const Result& waiting) { return waiting.call == user; });
    });
  }

  llvm::GlobalVariable* make_program() {
    std::vector<std::uint32_t> words = {static_cast<std::uint32_t>(values_.size()),
                                        static_cast<std::uint32_t>(steps_.size())};
    words.resize(sizeof(MatrixProgram) / sizeof(std::uint32_t));
    static_assert(offsetof(MatrixProgram, filled) == 8 && offsetof(MatrixProgram, read) == 16);
    for (std::uint32_t r = 0; r < values_.size(); ++r) {
      if (values_[r].first) words[2 + r / 32] |= 1u << (r % 32);
    }
    for (const Result& result : calls_) {
      if (is_read(*result.call)) words[4 + result.in / 32] |= 1u << (result.in % 32);
    }
    for (const MatrixStep& step : steps_) words.insert(words.end(), {step.action, step.a, step.b, step.c});
    llvm::Constant* table = llvm::ConstantDataArray::get(module_.getContext(), words);
    return new llvm::GlobalVariable(module_, table->getType(), true, llvm::GlobalValue::InternalLinkage, table,
                                    "metalloid_matrix_program");
  }

  void locate_registers(llvm::Function& function) {
    Value* state = cpu::state_in(function, entry_);
    auto position = function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    if (auto* instruction = llvm::dyn_cast<Instruction>(state)) position = std::next(instruction->getIterator());
    llvm::IRBuilder<> builder(&function.getEntryBlock(), position);
    registers_ = builder.CreateCall(locate_, {state});
  }

  void meet_before(Instruction& next) {
    if (steps_.empty()) return;
    if (!registers_) locate_registers(*next.getFunction());
    builder_.SetInsertPoint(&next);
    builder_.SetCurrentDebugLocation(calls_.back().call->getDebugLoc());
    for (std::uint32_t r = 0; r < values_.size(); ++r) {
      if (!values_[r].first) continue;
      builder_.CreateAlignedStore(as_floats(values_[r].first, values_[r].second), address(r), llvm::Align(8));
    }
    auto* null = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    builder_.CreateCall(meet_, {null, null, make_program(), registers_});
    auto* floats = llvm::FixedVectorType::get(builder_.getFloatTy(), 2);
    for (const auto& [call, in, element] : llvm::reverse(calls_)) {
      // What only other operations of this meeting used is gone with them.
      if (!call->use_empty()) {
        Value* value = builder_.CreateAlignedLoad(floats, address(in), llvm::Align(8));
        call->replaceAllUsesWith(from_floats(value, element));
      }
      call->eraseFromParent();
    }
    for (Instruction* instruction : moved_) instruction->moveBefore(next.getIterator());
    most_used_ = std::max(most_used_, static_cast<std::uint32_t>(values_.size()));
    values_.clear();
    factors_.clear();
    sums_.clear();
    rearranged_.clear();
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
  // The operations that wait for their meeting.
  std::vector<std::pair<Value*, ir::MatrixElement>> values_;  // that registers start with, null: nothing
  llvm::DenseMap<std::pair<Value*, int>, std::uint32_t> factors_;
  llvm::DenseMap<const Value*, std::uint32_t> sums_, rearranged_;
  std::vector<MatrixStep> steps_;
  llvm::DenseSet<const Value*> results_;  // of the operations and of what was moved
  std::vector<Result> calls_;
  std::vector<Instruction*> moved_;
};

}  // namespace

bool uses_matrices(const llvm::Module& module) {
  return llvm::any_of(module, [](const llvm::Function& function) {
    return ir::parse_matrix_operation(function.getName()) && !function.use_empty();
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
