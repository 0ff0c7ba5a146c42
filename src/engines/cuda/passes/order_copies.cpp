#include "engines/cuda/passes/order_copies.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "engines/cuda/kernel_abi.h"
#include "ir/bounds/check_bounds.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr unsigned threadgroup_space = 3, lanes = 32, lane_bits = 5;
constexpr std::uint64_t bank_bytes = 4, banks = 32, line_bytes = 128;
constexpr unsigned most_steps = 96;  // of addresses

// Which bits of a lane's number become which.
using Order = std::array<unsigned, lane_bits>;

unsigned apply(const Order& order, unsigned lane) {
  unsigned result = 0;
  for (unsigned bit = 0; bit < lane_bits; ++bit) result |= (lane >> bit & 1) << order[bit];
  return result;
}

bool is_call_of(const Value* value, intrinsic::ID name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  return call && call->getIntrinsicID() == name;
}

// The thread's number in its block, as CUDA counts (place_threads.cpp).
class IndexInBlock {
 public:
  explicit IndexInBlock(const Entry& entry) : entry_(entry) {}

  bool is(Value* value) const {
    Value *x = nullptr, *rows = nullptr, *y = nullptr, *z = nullptr;
    return is_sum(value, x, rows, intrinsic::nvvm_read_ptx_sreg_ntid_x, 0) &&
           is_call_of(x, intrinsic::nvvm_read_ptx_sreg_tid_x) &&
           is_sum(rows, y, z, intrinsic::nvvm_read_ptx_sreg_ntid_y, 1) &&
           is_call_of(y, intrinsic::nvvm_read_ptx_sreg_tid_y) && is_call_of(z, intrinsic::nvvm_read_ptx_sreg_tid_z);
  }

 private:
  // own + rest * size
  bool is_sum(Value* sum, Value*& own, Value*& rest, intrinsic::ID size, unsigned dimension) const {
    using namespace llvm::PatternMatch;
    Value* factor = nullptr;
    if (!match(sum, m_c_Add(m_c_Mul(m_Value(rest), m_Value(factor)), m_Value(own)))) return false;
    if (is_size(rest, size, dimension)) std::swap(rest, factor);
    return is_size(factor, size, dimension);
  }

  bool is_size(Value* value, intrinsic::ID size, unsigned dimension) const {
    if (is_call_of(value, size)) return true;
    auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    if (!load) return false;
    const llvm::DataLayout& layout = load->getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
    const Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
    return base == entry_.parameters && offset == offsetof(LaunchHead, threads_per_threadgroup) + 4 * dimension;
  }

  const Entry& entry_;
};

// What an address is for one thread of the first simdgroup. All that is not known is `other`.
class Evaluation {
 public:
  Evaluation(const llvm::DataLayout& layout, const Value& index, unsigned lane, std::uint64_t other)
      : layout_(layout), other_(other) {
    known_[&index] = lane;
  }

  std::uint64_t of(Value* value) {
    if (const auto found = known_.find(value); found != known_.end()) return found->second;
    const std::uint64_t result = cut(value, computed(value));
    known_[value] = result;
    return result;
  }

 private:
  static std::uint64_t cut(const Value* value, std::uint64_t number) {
    const auto* type = llvm::dyn_cast<llvm::IntegerType>(value->getType());
    return type && type->getBitWidth() < 64 ? number & ((std::uint64_t{1} << type->getBitWidth()) - 1) : number;
  }

  std::uint64_t computed(Value* value) {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      return number->getBitWidth() <= 64 ? number->getZExtValue() : other_;
    }
    if (auto* step = llvm::dyn_cast<llvm::GEPOperator>(value)) return of_step(*step);
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
      const bool is_number = llvm::isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst>(cast);
      return is_number ? of(cast->getOperand(0)) : other_;
    }
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
    if (!operation) return llvm::isa<llvm::GlobalVariable>(value) ? 0 : other_;
    const std::uint64_t a = of(operation->getOperand(0)), b = of(operation->getOperand(1));
    switch (operation->getOpcode()) {
      case Instruction::Add: return a + b;
      case Instruction::Sub: return a - b;
      case Instruction::Mul: return a * b;
      case Instruction::And: return a & b;
      case Instruction::Or: return a | b;
      case Instruction::Xor: return a ^ b;
      case Instruction::Shl: return b < 64 ? a << b : 0;
      case Instruction::LShr: return b < 64 ? a >> b : 0;
      case Instruction::UDiv: return b != 0 ? a / b : other_;
      case Instruction::URem: return b != 0 ? a % b : other_;
      default: return other_;
    }
  }

  std::uint64_t of_step(llvm::GEPOperator& step) {
    std::uint64_t sum = of(step.getPointerOperand());
    for (auto type = llvm::gep_type_begin(step); type != llvm::gep_type_end(step); ++type) {
      if (type.isStruct()) return other_;
      sum += of(type.getOperand()) * type.getSequentialElementStride(layout_).getFixedValue();
    }
    return sum;
  }

  const llvm::DataLayout& layout_;
  const std::uint64_t other_;
  llvm::DenseMap<const Value*, std::uint64_t> known_;
};

// A piece that goes from memory that nobody writes to threadgroup memory in front of a barrier.
struct Copy {
  llvm::LoadInst* load;
  llvm::StoreInst* store;
  Value* index;
};

using Addresses = std::array<std::uint64_t, lanes>;

Addresses addresses_of(Value* pointer, const Copy& copy, std::uint64_t other) {
  Addresses result{};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    result[lane] = Evaluation(copy.store->getDataLayout(), *copy.index, lane, other).of(pointer);
  }
  return result;
}

// How long the GPU takes for the pieces in that order: the rounds of threadgroup memory's banks, and the lines that
// lanes of one round lie in.
unsigned rounds(const Order& order, const Addresses& from, const Addresses& to, std::uint64_t bytes) {
  const unsigned at_once = static_cast<unsigned>(std::min<std::uint64_t>(lanes, banks * bank_bytes / bytes));
  unsigned sum = 0;
  for (unsigned first = 0; first < lanes; first += at_once) {
    std::array<std::set<std::uint64_t>, banks> words;
    std::set<std::uint64_t> lines;
    for (unsigned lane = first; lane < first + at_once; ++lane) {
      const unsigned own = apply(order, lane);
      for (std::uint64_t byte = 0; byte < bytes; byte += bank_bytes) {
        const std::uint64_t word = (to[own] + byte) / bank_bytes;
        words[word % banks].insert(word);
      }
      lines.insert(from[own] / line_bytes);
    }
    const auto most = std::ranges::max_element(words, {}, &std::set<std::uint64_t>::size);
    sum += static_cast<unsigned>(most->size() + lines.size());
  }
  return sum;
}

// The first one if none is better.
Order best_order(const Copy& copy) {
  const std::uint64_t bytes = copy.store->getDataLayout().getTypeStoreSize(copy.load->getType()).getFixedValue();
  // Rows of the memory that is read are long, and lie apart.
  const Addresses from = addresses_of(copy.load->getPointerOperand(), copy, std::uint64_t{1} << 16);
  const Addresses to = addresses_of(copy.store->getPointerOperand(), copy, 0);
  Order order{}, best{};
  std::iota(order.begin(), order.end(), 0);
  unsigned least = std::numeric_limits<unsigned>::max();
  do {
    const unsigned own = rounds(order, from, to, bytes);
    if (own < least) {
      least = own;
      best = order;
    }
  } while (std::ranges::next_permutation(order).found);
  return best;
}

// What addresses come of: the thread's number, and what the lanes of its simdgroup have in common where `block` is
// executed, to which they come together.
class Sources {
 public:
  Sources(const IndexInBlock& index, const llvm::LoopInfo& loops, BasicBlock& block)
      : index_(index), loops_(loops), block_(block) {}

  // False if it comes of anything else.
  bool add(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction) return true;
    if (index_.is(instruction)) {
      if (index && index != instruction) return false;
      index = instruction;
      return true;
    }
    if (llvm::isa<llvm::PHINode>(instruction) || instruction->mayReadFromMemory()) return is_common(instruction);
    if (!is_new(added_, instruction)) return true;
    return may_be_followed(*instruction) &&
           llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) { return add(operand); });
  }

  Value* index = nullptr;

 private:
  using Instructions = llvm::SmallPtrSet<Instruction*, 32>;
  static bool is_new(Instructions& instructions, Instruction* one) { return instructions.insert(one).second; }

  bool is_common(Value* value) {
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || !is_new(common_, instruction)) return true;
    if (index_.is(instruction) || !may_be_followed(*instruction)) return false;
    return llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) { return is_common(operand); });
  }

  bool may_be_followed(Instruction& instruction) const {
    if (added_.size() + common_.size() > most_steps) return false;
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      const llvm::Loop* loop = loops_.getLoopFor(phi->getParent());
      return phi->getNumIncomingValues() == 1 ||
             (loop && loop->getHeader() == phi->getParent() && loop->contains(&block_));
    }
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      return load->isSimple() && load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    }
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      switch (call->getIntrinsicID()) {
        case intrinsic::nvvm_read_ptx_sreg_ctaid_x:
        case intrinsic::nvvm_read_ptx_sreg_ctaid_y:
        case intrinsic::nvvm_read_ptx_sreg_ctaid_z:
        case intrinsic::nvvm_read_ptx_sreg_ntid_x:
        case intrinsic::nvvm_read_ptx_sreg_ntid_y:
        case intrinsic::nvvm_read_ptx_sreg_ntid_z:
        case intrinsic::umin:
        case intrinsic::umax:
        case intrinsic::smin:
        case intrinsic::smax: return true;
        default: return as_argument(*call) != nullptr;
      }
    }
    return !instruction.mayReadOrWriteMemory() && !instruction.isTerminator();
  }

  const IndexInBlock& index_;
  const llvm::LoopInfo& loops_;
  BasicBlock& block_;
  Instructions added_, common_;
};

class CopyOrderer {
 public:
  CopyOrderer(BasicBlock& block, const IndexInBlock& index, const llvm::LoopInfo& loops)
      : block_(block), index_(index), loops_(loops), builder_(block.getContext()) {}

  void run() {
    llvm::SmallVector<Copy, 16> waiting, found;
    for (Instruction& instruction : block_) {
      if (ir::as_bounds_check(instruction)) return;
      if (const auto copy = as_copy(instruction)) {
        waiting.push_back(*copy);
      } else if (is_barrier(instruction)) {
        found.append(waiting);
        waiting.clear();
      } else if (instruction.mayReadFromMemory() && !is_call_of(&instruction, intrinsic::nvvm_bar_warp_sync) &&
                 !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
        waiting.clear();
      }
    }
    for (const Copy& copy : found) order(copy);
  }

 private:
  static bool is_barrier(const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getIntrinsicID() == intrinsic::nvvm_barrier_cta_sync_all;
  }

  std::optional<Copy> as_copy(Instruction& instruction) const {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->isSimple() || store->getPointerAddressSpace() != threadgroup_space) return std::nullopt;
    auto* load = llvm::dyn_cast<llvm::LoadInst>(store->getValueOperand());
    if (!load || !load->isSimple() || !load->hasOneUse() || load->getParent() != store->getParent() ||
        !load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
      return std::nullopt;
    }
    const std::uint64_t bytes = store->getDataLayout().getTypeStoreSize(load->getType()).getFixedValue();
    if (bytes != 4 && bytes != 8 && bytes != 16) return std::nullopt;
    Sources sources(index_, loops_, block_);
    if (!sources.add(load->getPointerOperand()) || !sources.add(store->getPointerOperand()) || !sources.index) {
      return std::nullopt;
    }
    return Copy{load, store, sources.index};
  }

  void order(const Copy& copy) {
    const Order order = best_order(copy);
    auto* index = llvm::cast<Instruction>(copy.index);
    builder_.SetInsertPoint(*index->getInsertionPointAfterDef());
    Value* own = builder_.CreateAnd(index, builder_.getInt32(~(lanes - 1)));
    for (unsigned bit = 0; bit < lane_bits; ++bit) {
      Value* only = builder_.CreateAnd(index, builder_.getInt32(1 << bit));
      const int left = static_cast<int>(order[bit]) - static_cast<int>(bit);
      own = builder_.CreateOr(own, left >= 0 ? builder_.CreateShl(only, left) : builder_.CreateLShr(only, -left));
    }
    llvm::DenseMap<Value*, Value*> made{{index, own}};
    llvm::Use& from = copy.load->getOperandUse(llvm::LoadInst::getPointerOperandIndex());
    llvm::Use& to = copy.store->getOperandUse(llvm::StoreInst::getPointerOperandIndex());
    from.set(again(from, made));
    to.set(again(to, made));
  }

  // With another thread's number in it.
  Value* again(Value* value, llvm::DenseMap<Value*, Value*>& made) {
    if (const auto known = made.find(value); known != made.end()) return known->second;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    Value* result = value;
    if (instruction && !llvm::isa<llvm::PHINode>(instruction) && !instruction->mayReadFromMemory()) {
      llvm::SmallVector<Value*, 4> operands;
      for (const llvm::Use& operand : instruction->operands()) operands.push_back(again(operand, made));
      if (!llvm::equal(operands, instruction->operand_values())) {
        Instruction* copy = instruction->clone();
        for (const auto& [i, operand] : llvm::enumerate(operands)) copy->setOperand(static_cast<unsigned>(i), operand);
        copy->insertAfter(instruction->getIterator());
        result = copy;
      }
    }
    made[value] = result;
    return result;
  }

  BasicBlock& block_;
  const IndexInBlock& index_;
  const llvm::LoopInfo& loops_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

void order_copies(const Entry& entry) {
  if (!entry.simdgroups_are_whole) return;
  ir::PassManagers managers;
  const auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(*entry.function);
  const IndexInBlock index(entry);
  for (BasicBlock& block : *entry.function) CopyOrderer(block, index, loops).run();
}

}  // namespace metalloid::engines::cuda
