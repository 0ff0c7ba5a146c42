#include "engines/cuda/passes/ring_tiles.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engines/cuda/lanes/fragments.h"
#include "engines/cuda/lanes/products.h"
#include "ir/bounds/check_bounds.h"
#include "ir/support/pass_managers.h"
#include "ir/tiles.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::GlobalVariable;
using llvm::Instruction;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr unsigned device_space = 1, threadgroup_space = 3;
constexpr std::uint64_t piece_bytes = 16;
// Of all rings: beside Metal's 32 KiB that is within what any GPU since compute capability 8.0 has for a threadgroup.
constexpr std::uint64_t most_bytes = 64 << 10;
constexpr llvm::StringLiteral ring_name = "metalloid_ring";

bool is_call_of(const Instruction& instruction, intrinsic::ID name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getIntrinsicID() == name;
}
bool is_barrier(const Instruction& instruction) {
  return is_call_of(instruction, intrinsic::nvvm_barrier_cta_sync_all);
}

bool is_of_threadgroup(const Value& pointer) {
  return pointer.getType()->getPointerAddressSpace() == threadgroup_space;
}

// Of an access to threadgroup memory, or of what stands for one; null if it is none.
llvm::Use* address_of(Instruction& instruction) {
  unsigned operand = 0;
  if (llvm::isa<llvm::StoreInst>(instruction)) {
    operand = llvm::StoreInst::getPointerOperandIndex();
  } else if (as_fragment(instruction)) {
    operand = 1;
  } else if (!llvm::isa<llvm::LoadInst>(instruction)) {
    return nullptr;
  }
  llvm::Use& use = instruction.getOperandUse(operand);
  return is_of_threadgroup(*use) ? &use : nullptr;
}

// The variable that constants and indices lead to, or null.
GlobalVariable* variable_of(Value* pointer) {
  while (auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) pointer = step->getPointerOperand();
  return llvm::dyn_cast<GlobalVariable>(pointer);
}

// The launch brings it, in front of what arguments have.
GlobalVariable* ring_memory(llvm::Module& module) {
  if (GlobalVariable* known = module.getGlobalVariable(ring_name)) return known;
  auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  auto* ring = new GlobalVariable(module, bytes, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                  ring_name, nullptr, GlobalVariable::NotThreadLocal, threadgroup_space);
  ring->setAlignment(llvm::Align(piece_bytes));
  return ring;
}

class RingLoop {
 public:
  RingLoop(llvm::Loop& loop, llvm::DominatorTree& dominators) : loop_(loop), dominators_(dominators) {}

  // Of all its tiles, once; 0 if it is no such loop.
  std::uint64_t bytes() {
    if (!find_accesses() || variables_.empty() || barriers_.size() != 2) return 0;
    BasicBlock* body = barriers_[0]->getParent();
    if (body != barriers_[1]->getParent() || !dominators_.dominates(body, loop_.getLoopLatch())) return 0;
    const auto is_behind = [](const Instruction* a, const Instruction* b) { return b->comesBefore(a); };
    bool reads_behind = true, reads_between = true, writes_between = true, writes_in_front = true;
    for (const llvm::Use* access : accesses_) {
      auto* user = llvm::cast<Instruction>(access->getUser());
      const bool is_in_body = user->getParent() == body;
      if (!is_in_body && (llvm::isa<llvm::StoreInst>(user) || !dominators_.dominates(body, user->getParent())))
        return 0;
      const bool first = !is_in_body || is_behind(user, barriers_[0]);
      const bool second = !is_in_body || is_behind(user, barriers_[1]);
      if (llvm::isa<llvm::StoreInst>(user)) {
        if (!is_copy(*user) || !is_the_same_in_all_turns(access->get())) return 0;
        writes_between &= first && !second;
        writes_in_front &= !first;
      } else {
        reads_behind &= second;
        reads_between &= first && !second;
      }
    }
    if (writes_between && reads_behind) {
      needless_ = barriers_[0];
    } else if (writes_in_front && reads_between) {
      needless_ = barriers_[1];
    } else {
      return 0;
    }
    if (!llvm::all_of(variables_, [&](GlobalVariable* variable) { return is_only_used_here(*variable); })) return 0;
    std::uint64_t sum = 0;
    for (const GlobalVariable* variable : variables_) sum += bytes_of(*variable);
    return sum;
  }

  // From that byte of the rings on.
  void make_ring(std::uint64_t first, std::uint64_t bytes) {
    llvm::Function& function = *loop_.getHeader()->getParent();
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    llvm::AllocaInst* stages = builder.CreateAlloca(builder.getInt32Ty());
    stages->moveBefore(function.getEntryBlock().begin());
    builder.CreateStore(builder.getInt32(0), stages);
    builder.SetInsertPoint(barriers_[0]->getParent(), barriers_[0]->getParent()->getFirstInsertionPt());
    Value* stage = builder.CreateLoad(builder.getInt32Ty(), stages);
    Value* is_last = builder.CreateICmpEQ(stage, builder.getInt32(ring_stages - 1));
    Value* next = builder.CreateSelect(is_last, builder.getInt32(0), builder.CreateAdd(stage, builder.getInt32(1)));
    builder.CreateStore(next, stages);
    Value* offset = builder.CreateMul(builder.CreateZExt(stage, builder.getInt64Ty()), builder.getInt64(bytes));
    GlobalVariable* memory = ring_memory(*function.getParent());
    Value* ring = builder.CreateInBoundsGEP(builder.getInt8Ty(), memory, offset);
    llvm::DenseMap<GlobalVariable*, Value*> tiles, first_tiles;
    for (GlobalVariable* variable : variables_) {
      Value* distance = builder.getInt64(first);
      tiles[variable] = builder.CreateInBoundsGEP(builder.getInt8Ty(), ring, distance);
      first_tiles[variable] = builder.CreateInBoundsGEP(builder.getInt8Ty(), memory, distance);
      first += bytes_of(*variable);
    }
    for (llvm::Use* access : accesses_) {
      builder.SetInsertPoint(llvm::cast<Instruction>(access->getUser()));
      // Reads are constants apart from each other; a place that is written is the loop's own, but for the stage.
      const bool is_write = llvm::isa<llvm::StoreInst>(access->getUser());
      Value* place = rebuild(builder, access->get(), is_write ? first_tiles : tiles);
      access->set(is_write ? builder.CreateInBoundsGEP(builder.getInt8Ty(), place, offset) : place);
    }
    if (Instruction* before = needless_->getPrevNode(); before && is_call_of(*before, intrinsic::nvvm_bar_warp_sync)) {
      before->eraseFromParent();
    }
    needless_->eraseFromParent();
    llvm::PromoteMemToReg({stages}, dominators_);
  }

 private:
  static std::uint64_t bytes_of(const GlobalVariable& variable) {
    const llvm::DataLayout& layout = variable.getParent()->getDataLayout();
    return llvm::alignTo(layout.getTypeAllocSize(variable.getValueType()).getFixedValue(), llvm::Align(piece_bytes));
  }

  // False if the loop does something that other threads see or that they bring about.
  bool find_accesses() {
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& instruction : *block) {
        if (is_barrier(instruction)) {
          barriers_.push_back(&instruction);
        } else if (llvm::Use* address = address_of(instruction)) {
          GlobalVariable* variable = variable_of(address->get());
          if (!variable || variable->getAlign().valueOrOne() > llvm::Align(piece_bytes) || instruction.isVolatile() ||
              instruction.isAtomic())
            return false;
          accesses_.push_back(address);
          variables_.insert(variable);
        } else if (!is_unseen(instruction)) {
          return false;
        }
      }
    }
    if (barriers_.size() == 2 && barriers_[0]->getParent() == barriers_[1]->getParent() &&
        barriers_[1]->comesBefore(barriers_[0])) {
      std::swap(barriers_[0], barriers_[1]);
    }
    return true;
  }

  static bool is_unseen(Instruction& instruction) {
    if (!instruction.mayReadOrWriteMemory() || ir::as_bounds_check(instruction) || as_product(instruction)) return true;
    if (instruction.isVolatile() || instruction.isAtomic()) return false;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      return call->onlyAccessesInaccessibleMemory() || is_call_of(instruction, intrinsic::nvvm_bar_warp_sync);
    }
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address) return false;
    const Value* object = llvm::getUnderlyingObject(address);
    return llvm::isa<llvm::AllocaInst>(object) || instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  }

  // Of a piece that the GPU can copy by itself.
  static bool is_copy(const Instruction& instruction) {
    const auto& store = llvm::cast<llvm::StoreInst>(instruction);
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(store.getValueOperand());
    return load && load->isSimple() && load->hasOneUse() && load->getPointerAddressSpace() == device_space &&
           load->hasMetadata(llvm::LLVMContext::MD_invariant_load) && store.isSimple() &&
           store.getDataLayout().getTypeStoreSize(load->getType()).getFixedValue() == piece_bytes;
  }

  bool is_the_same_in_all_turns(Value* pointer) const {
    if (loop_.isLoopInvariant(pointer)) return true;
    auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    return step && llvm::all_of(step->indices(), [&](Value* index) { return loop_.isLoopInvariant(index); }) &&
           is_the_same_in_all_turns(step->getPointerOperand());
  }

  bool is_only_used_here(Value& pointer) const {
    return llvm::all_of(pointer.uses(), [&](llvm::Use& use) {
      if (llvm::isa<llvm::GEPOperator>(use.getUser())) return is_only_used_here(*use.getUser());
      return llvm::is_contained(accesses_, &use);
    });
  }

  static Value* rebuild(llvm::IRBuilder<>& builder, Value* pointer,
                        const llvm::DenseMap<GlobalVariable*, Value*>& tiles) {
    auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    if (!step) return tiles.lookup(llvm::cast<GlobalVariable>(pointer));
    const llvm::SmallVector<Value*, 4> indices(step->indices());
    return builder.CreateGEP(step->getSourceElementType(), rebuild(builder, step->getPointerOperand(), tiles), indices,
                             "", step->getNoWrapFlags());
  }

  llvm::Loop& loop_;
  llvm::DominatorTree& dominators_;
  llvm::SmallVector<Instruction*, 4> barriers_;
  llvm::SmallVector<llvm::Use*, 64> accesses_;
  llvm::SetVector<GlobalVariable*> variables_;
  Instruction* needless_ = nullptr;
};

}  // namespace

std::uint32_t ring_tiles(llvm::Function& function) {
  // Products of tiles (lower_tiles) have that memory for themselves.
  const bool has_tiles = llvm::any_of(llvm::instructions(function), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && (ir::as_product(*call) || ir::as_transfer(*call));
  });
  if (has_tiles) return 0;
  ir::PassManagers managers;
  llvm::FunctionAnalysisManager& analyses = managers.functions;
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  std::uint64_t used = 0;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || !loop->getLoopLatch()) continue;
    RingLoop ring(*loop, dominators);
    const std::uint64_t bytes = ring.bytes();
    if (bytes == 0 || used + ring_stages * bytes > most_bytes) continue;
    ring.make_ring(used, bytes);
    used += ring_stages * bytes;
  }
  return static_cast<std::uint32_t>(used);
}

bool is_in_ring(const Value& pointer) {
  const auto* variable = llvm::dyn_cast<GlobalVariable>(llvm::getUnderlyingObject(&pointer));
  return variable && variable->getName() == ring_name;
}

}  // namespace metalloid::engines::cuda
