#include "engines/simd/lane/read_before_writing.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "engines/cpu_shared/passes/check_bounds.h"
#include "engines/simd/shapes/lane_target.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/kernel_memory.h"
#include "support/address_spaces.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr std::size_t most_twice = 400;    // instructions
constexpr std::size_t most_accesses = 64;  // of a stretch
constexpr std::size_t most_classes = 8;

// Offsets of one class are constants apart: `place` bytes from the first one's.
struct Access {
  Instruction* instruction;
  Value* base;
  std::size_t offsets;  // the class
  std::int64_t place;
  std::int64_t size;

  bool is_store() const { return llvm::isa<llvm::StoreInst>(instruction); }
  bool is_beside(const Access& other) const {
    if (base != other.base || offsets != other.offsets || is_store() != other.is_store()) return false;
    return place + size == other.place || other.place + other.size == place;
  }
};

// Of a pair of arguments: the distances between them, in bytes, with which a read meets an earlier write. Where offsets
// are not constants apart, any at which their memory overlaps.
struct Distances {
  std::int64_t least = 0, most = 0;
  bool are_known = true;
};
using Question = std::pair<Value*, Value*>;  // what is read, what is written

// Accesses of one block in their order, and what to ask so that those that read may all come first.
struct Ways {
  Instruction* first = nullptr;
  llvm::SmallVector<Access, 16> accesses;
  llvm::MapVector<Question, Distances> questions;

  Instruction* last() const { return accesses.back().instruction; }
};

// Instructions one behind the other that do nothing but compute, read, write and check: a write that comes behind the
// check of a later access is left out if that fails, which ends the dispatch.
class Stretch {
 public:
  Stretch(llvm::ScalarEvolution& evolution, llvm::AAResults& aliases) : evolution_(&evolution), aliases_(&aliases) {}

  // It begins with an access to a buffer or its check: what is read in front of these are the places of arguments.
  void add(Instruction& instruction) {
    const bool is_access = llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction);
    const bool is_of_buffer = is_access && llvm::getLoadStoreAddressSpace(&instruction) == device_space;
    if (!first_ && !is_of_buffer && !ir::as_bounds_check(instruction)) return;
    if (!first_) first_ = &instruction;
    ++size_;
    if (!is_access) return;
    Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    const llvm::SCEV* place = evolution_->getSCEV(pointer);
    const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(evolution_->getPointerBase(place));
    const auto bytes = instruction.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&instruction));
    Access access{&instruction, base ? base->getValue() : nullptr, most_classes, 0,
                  static_cast<std::int64_t>(bytes.getFixedValue())};
    if (base) find_class(access, evolution_->removePointerBase(place));
    accesses_.push_back(access);
  }

  bool is_full() const { return size_ >= most_twice || accesses_.size() >= most_accesses; }

  // Without questions if reads cannot all come first, or nothing is won by it.
  Ways ways() const {
    Ways result;
    bool joins = false;
    llvm::BatchAAResults aliases(*aliases_);
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      const Access& write = accesses_[i];
      if (!write.is_store()) continue;
      for (std::size_t j = i + 1; j < accesses_.size(); ++j) {
        const Access& read = accesses_[j];
        if (read.is_store() || read.instruction->hasMetadata(llvm::LLVMContext::MD_invariant_load) ||
            aliases.isNoAlias(llvm::MemoryLocation::get(write.instruction),
                              llvm::MemoryLocation::get(read.instruction))) {
          continue;
        }
        if (!write.base || !read.base || !is_of_buffer(write) || !is_of_buffer(read)) return {};
        const std::int64_t further = write.place - read.place;
        const Distances meet{further - read.size + 1, further + write.size - 1,
                             write.offsets == read.offsets && write.offsets != most_classes};
        if (read.base == write.base) {
          if (!meet.are_known || (meet.least <= 0 && meet.most >= 0)) return {};
          continue;
        }
        Distances& all = result.questions.insert({{read.base, write.base}, meet}).first->second;
        all.least = std::min(all.least, meet.least);
        all.most = std::max(all.most, meet.most);
        all.are_known = all.are_known && meet.are_known;
        joins = joins || is_beside_any(read, 0, i) || is_beside_any(write, j + 1, accesses_.size());
      }
    }
    if (!joins) return {};
    result.first = first_;
    result.accesses = accesses_;
    return result;
  }

 private:
  void find_class(Access& access, const llvm::SCEV* offset) {
    for (std::size_t i = 0; i < first_of_class_.size(); ++i) {
      if (first_of_class_[i]->getType() != offset->getType()) continue;
      const auto* further = llvm::dyn_cast<llvm::SCEVConstant>(evolution_->getMinusSCEV(offset, first_of_class_[i]));
      if (!further || further->getAPInt().getSignificantBits() > 32) continue;
      access.offsets = i;
      access.place = further->getAPInt().getSExtValue();
      return;
    }
    if (first_of_class_.size() == most_classes) return;
    access.offsets = first_of_class_.size();
    first_of_class_.push_back(offset);
  }

  static bool is_of_buffer(const Access& access) {
    const unsigned space = llvm::getLoadStoreAddressSpace(access.instruction);
    return space == device_space || space == constant_space;
  }

  bool is_beside_any(const Access& access, std::size_t begin, std::size_t end) const {
    return llvm::any_of(llvm::ArrayRef(accesses_).slice(begin, end - begin),
                        [&](const Access& other) { return access.is_beside(other); });
  }

  llvm::ScalarEvolution* evolution_;
  llvm::AAResults* aliases_;
  llvm::SmallVector<Access, 16> accesses_;
  llvm::SmallVector<const llvm::SCEV*, most_classes> first_of_class_;
  Instruction* first_ = nullptr;
  std::size_t size_ = 0;
};

bool is_plain(Instruction& instruction) {
  if (ir::as_bounds_check(instruction)) return true;
  if (instruction.isTerminator() || llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction)) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return load->isSimple();
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return store->isSimple();
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects() && !(call && call->isConvergent());
}

// Where the memory of an argument begins and ends.
std::pair<Value*, Value*> memory_of(llvm::IRBuilder<>& builder, ir::KernelMemory& memory, Value* base) {
  const auto extent = memory.extent_of(*memory.find(*base));
  Value* address = builder.CreatePtrToInt(base, builder.getInt64Ty());
  Value* front = builder.CreateLoad(builder.getInt64Ty(), extent.front);
  return {builder.CreateSub(address, front), builder.CreateAdd(address, extent.bytes)};
}

// Whether reads and writes are apart.
Value* ask(llvm::IRBuilder<>& builder, const Ways& ways, ir::KernelMemory& memory) {
  Value* all = nullptr;
  for (const auto& [question, meet] : ways.questions) {
    Value* is_apart = nullptr;
    if (meet.are_known) {
      Value* read = builder.CreatePtrToInt(question.first, builder.getInt64Ty());
      Value* written = builder.CreatePtrToInt(question.second, builder.getInt64Ty());
      Value* further =
          builder.CreateSub(builder.CreateSub(read, written), builder.getInt64(static_cast<std::uint64_t>(meet.least)));
      is_apart = builder.CreateICmpUGT(further, builder.getInt64(static_cast<std::uint64_t>(meet.most - meet.least)));
    } else {
      const auto read = memory_of(builder, memory, question.first);
      const auto written = memory_of(builder, memory, question.second);
      is_apart = builder.CreateOr(builder.CreateICmpULE(read.second, written.first),
                                  builder.CreateICmpULE(written.second, read.first));
    }
    all = all ? builder.CreateAnd(all, is_apart) : is_apart;
  }
  return all;
}

// The block becomes two ways; what is computed on them is used behind them by a phi.
void part(const Ways& ways, ir::KernelMemory& memory) {
  BasicBlock* head = ways.first->getParent();
  BasicBlock* as_it_was = llvm::SplitBlock(head, ways.first);
  BasicBlock* behind = llvm::SplitBlock(as_it_was, ways.last()->getNextNode());
  llvm::ValueToValueMapTy twins;
  BasicBlock* reads_first = llvm::CloneBasicBlock(as_it_was, twins, ".reads_first", head->getParent());
  reads_first->moveBefore(as_it_was);
  llvm::SmallVector<BasicBlock*, 1> blocks = {reads_first};
  llvm::remapInstructionsInBlocks(blocks, twins);
  for (const Access& access : ways.accesses) {
    if (!access.is_store()) continue;
    auto* write = llvm::cast<Instruction>(static_cast<Value*>(twins[access.instruction]));
    write->moveBefore(reads_first->getTerminator()->getIterator());
  }
  for (Instruction& instruction : *as_it_was) {
    llvm::SmallVector<llvm::Use*, 4> outside;
    for (llvm::Use& use : instruction.uses()) {
      const auto* user = llvm::cast<Instruction>(use.getUser());
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      const BasicBlock* place = phi ? phi->getIncomingBlock(use) : user->getParent();
      if (place != as_it_was) outside.push_back(&use);
    }
    if (outside.empty()) continue;
    auto* phi = llvm::PHINode::Create(instruction.getType(), 2, "", behind->begin());
    phi->addIncoming(twins[&instruction], reads_first);
    phi->addIncoming(&instruction, as_it_was);
    for (llvm::Use* use : outside) use->set(phi);
  }
  llvm::IRBuilder<> builder(head->getTerminator());
  builder.SetCurrentDebugLocation(ways.first->getDebugLoc());
  llvm::BranchInst* branch = builder.CreateCondBr(ask(builder, ways, memory), reads_first, as_it_was);
  branch->getNextNode()->eraseFromParent();
}

}  // namespace

void read_before_writing(llvm::Function& lane, const KernelInfo& info) {
  LaneManagers managers;
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(lane);
  auto& aliases = managers.functions.getResult<llvm::AAManager>(lane);
  auto& dominators = managers.functions.getResult<llvm::DominatorTreeAnalysis>(lane);
  auto& uniformity = managers.functions.getResult<llvm::UniformityInfoAnalysis>(lane);
  llvm::SmallVector<Ways, 4> found;
  llvm::SmallPtrSet<const Value*, 32> is_twice;
  for (BasicBlock& block : lane) {
    Stretch stretch(evolution, aliases);
    for (Instruction& instruction : block) {
      if (is_plain(instruction) && !stretch.is_full()) {
        stretch.add(instruction);
        continue;
      }
      if (Ways ways = stretch.ways(); !ways.questions.empty()) {
        for (auto& each : llvm::make_range(ways.first->getIterator(), instruction.getIterator()))
          is_twice.insert(&each);
        found.push_back(std::move(ways));
      }
      stretch = Stretch(evolution, aliases);
    }
  }
  const auto memory = cpu::kernel_memory_of(lane, info);
  for (const Ways& ways : found) {
    const auto can_ask = [&](Value* base, const Distances& meet) {
      return uniformity.isUniform(base) && !is_twice.contains(base) && dominators.dominates(base, ways.first) &&
             (meet.are_known || memory->find(*base));
    };
    if (llvm::all_of(ways.questions, [&](const auto& one) {
          return can_ask(one.first.first, one.second) && can_ask(one.first.second, one.second);
        })) {
      part(ways, *memory);
    }
  }
}

}  // namespace metalloid::engines::simd
