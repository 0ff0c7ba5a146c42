// lower_products
//
//   %d = call <64 x float> @metalloid_matrix_product(<64 x float> %c, <64 x float> %a, <64 x float> %b)
//   %e = call <64 x float> @metalloid_matrix_product(<64 x float> %f, <64 x float> %a, <64 x float> %g)
// ->
//   store <64 x float> %b, ptr %slot.b
//   store <64 x float> %g, ptr %slot.g
//   %de = call x86_regcallcc <128 x float> @metalloid.products.1x2(<16 x float> %c.0, ... %f.3, ... %a.3, ptr %slot.b,
//                                                                  ptr %slot.g)
//
//   1. Products of a block wait until something wants a result. To keep it in memory is no reason while nothing else
//      goes to memory.
//   2. Then they are computed in an order in which each has its sum: in blocks of up to two left operands by two right
//      ones (product_code.h), each block behind the one whose sums it goes on with, so that these stay in registers.
//   3. An operand whose rows lie in memory, a constant number of bytes apart, stays where it is if nothing is written
//      until then: a right one, and a left one that would have to go to memory.
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Local.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "engines/simd/math/lower_vector_math.h"
#include "engines/simd/matrices/matrix_products.h"
#include "engines/simd/matrices/product_code.h"
#include "engines/simd/vectors/joined_vectors.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned size = 8, tile = 16, tiles = 4, quarter = 4, whole = size * size;

// Where an operand lies, row by row.
struct Rows {
  Value* begin = nullptr;
  std::uint64_t bytes = 0;  // from one to the next
  llvm::SmallVector<llvm::LoadInst*, size> loads;
};

// What some elements of a matrix from a place on are loaded by, and which of its elements they begin with.
struct LoadedRow {
  llvm::LoadInst* load = nullptr;  // null: they are no such thing
  int first = 0;
};

LoadedRow loaded_row(Value* matrix, unsigned begin, unsigned count) {
  auto first = static_cast<int>(begin);
  while (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(matrix)) {
    const llvm::ArrayRef<int> row = shuffle->getShuffleMask().slice(static_cast<unsigned>(first), count);
    for (unsigned i = 0; i < count; ++i) {
      if (row[i] < 0 || row[i] != row[0] + static_cast<int>(i)) return {};
    }
    const auto before =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
    if (row[0] < before && row[0] + static_cast<int>(count) > before) return {};
    matrix = shuffle->getOperand(row[0] < before ? 0 : 1);
    first = row[0] % before;
  }
  auto* load = llvm::dyn_cast<llvm::LoadInst>(matrix);
  return load && load->isSimple() ? LoadedRow{load, first} : LoadedRow{};
}

std::optional<Rows> rows_in_memory(Value* matrix, MatrixOrder order) {
  const unsigned length = order == MatrixOrder::rows ? size : quarter;  // that lies side by side in both
  Rows rows;
  Value* base = nullptr;
  std::int64_t first = 0;
  llvm::SmallVector<std::int64_t, whole / quarter> offsets(whole / length);
  llvm::SmallVector<MatrixPlace, whole / quarter> places;
  for (unsigned i = 0; i < whole / length; ++i) {
    const auto [load, element] = loaded_row(matrix, i * length, length);
    if (!load || (i == 0 && element != 0)) return std::nullopt;
    Value* origin = llvm::GetPointerBaseWithConstantOffset(load->getPointerOperand(), offsets[i],
                                                           load->getModule()->getDataLayout());
    offsets[i] += element * static_cast<std::int64_t>(sizeof(float));
    if (i == 0) {
      base = origin;
      first = offsets[i];
      rows.begin = load->getPointerOperand();
    }
    if (origin != base) return std::nullopt;
    places.push_back(place_in(order, i * length));
    if (places.back().row == 1 && places.back().column == 0) {
      rows.bytes = static_cast<std::uint64_t>(offsets[i] - first);
    }
    if (!llvm::is_contained(rows.loads, load)) rows.loads.push_back(load);
  }
  if (rows.bytes == 0) return std::nullopt;
  for (unsigned i = 0; i < places.size(); ++i) {
    const std::uint64_t distance = places[i].row * rows.bytes + places[i].column * sizeof(float);
    if (offsets[i] != first + static_cast<std::int64_t>(distance)) return std::nullopt;
  }
  return rows;
}

// Products of a function.
class ProductLowering {
 public:
  using Functions = std::map<ProductBlock, llvm::Function*>;

  ProductLowering(llvm::Function& function, llvm::Function& product, Functions& functions,
                  const llvm::TargetMachine& machine)
      : function_(function), product_(product), functions_(functions), largest_(largest_block(machine)) {}

  void lower(llvm::BasicBlock& block) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const bool is_product = call && call->getCalledFunction() == &product_;
      const bool wants = llvm::any_of(instruction.operands(), [&](const llvm::Use& use) {
        const bool is_sum = is_product && use.getOperandNo() == 0 && llvm::isa<llvm::CallInst>(use.get());
        return waiting_.contains(use.get()) && !is_sum;
      });
      if (is_product) {
        if (wants || products_.size() == most_waiting) compute(instruction);
        products_.push_back(call);
        waiting_.insert(call);
      } else if (wants && llvm::isa<llvm::ShuffleVectorInst>(instruction)) {
        followers_.push_back(&instruction);
        waiting_.insert(&instruction);
      } else if (wants && is_plain_store(instruction)) {
        followers_.push_back(&instruction);
        keeps_store_ = true;
      } else if (wants || instruction.isTerminator() || (keeps_store_ && instruction.mayReadOrWriteMemory())) {
        compute(instruction);
      }
    }
    for (auto& [matrix, slot] : slots_) {
      llvm::IRBuilder<> builder(slot.last->getNextNode());
      builder.CreateLifetimeEnd(slot.memory);
    }
    slots_.clear();
  }

 private:
  static constexpr std::size_t most_waiting = 64;  // so that their operands stay in the nearest cache

  struct Slot {
    llvm::AllocaInst* memory = nullptr;
    llvm::CallInst* last = nullptr;  // that reads it
  };

  // As of what goes into a frame, in front of a barrier.
  static bool is_plain_store(const llvm::Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && store->isSimple();
  }

  // In front of an instruction.
  void compute(llvm::Instruction& where) {
    llvm::SmallPtrSet<Value*, 16> left(products_.begin(), products_.end());
    llvm::SmallVector<llvm::CallInst*, 4> block;
    while (!left.empty()) {
      block = next_block(left, block);
      make_call(block, where);
      for (llvm::CallInst* call : block) left.erase(call);
      place_followers(left, where);
    }
    for (llvm::CallInst* call : products_) {
      const std::array<llvm::WeakTrackingVH, 2> operands = {call->getArgOperand(1), call->getArgOperand(2)};
      call->eraseFromParent();
      for (const llvm::WeakTrackingVH& operand : operands) {  // those that stayed where they are
        if (operand) llvm::RecursivelyDeleteTriviallyDeadInstructions(operand);
      }
    }
    products_.clear();
    results_.clear();
    followers_.clear();
    placed_.clear();
    waiting_.clear();
    keeps_store_ = false;
  }

  // Those that have what they want; of stores, those that no earlier one has to come before.
  void place_followers(const llvm::SmallPtrSetImpl<Value*>& left, llvm::Instruction& where) {
    llvm::SmallPtrSet<Value*, 32> missing(left.begin(), left.end());
    llvm::SmallVector<llvm::Instruction*, 8> before;  // stores that are not placed
    for (llvm::Instruction* follower : followers_) {
      if (placed_.contains(follower)) continue;
      const bool is_store = follower->mayWriteToMemory();
      const bool waits =
          llvm::any_of(follower->operands(), [&](const llvm::Use& use) { return missing.contains(use.get()); }) ||
          (is_store && !llvm::all_of(before, [&](auto* other) { return are_apart(*follower, *other); }));
      if (!waits) {
        follower->moveBefore(where.getIterator());
        placed_.insert(follower);
        continue;
      }
      missing.insert(follower);
      if (is_store) before.push_back(follower);
    }
  }

  // Whether a load or store surely touches other memory than another one.
  static bool are_apart(const llvm::Instruction& one, const llvm::Instruction& other) {
    const llvm::DataLayout& layout = one.getDataLayout();
    std::int64_t begin = 0, other_begin = 0;
    const Value* base = llvm::GetPointerBaseWithConstantOffset(llvm::getLoadStorePointerOperand(&one), begin, layout);
    const Value* other_base =
        llvm::GetPointerBaseWithConstantOffset(llvm::getLoadStorePointerOperand(&other), other_begin, layout);
    const auto bytes = [&](const llvm::Instruction& access) {
      return static_cast<std::int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue());
    };
    return base == other_base && (begin + bytes(one) <= other_begin || other_begin + bytes(other) <= begin);
  }

  // Of those that are left, with all of one left operand in front.
  llvm::SmallVector<llvm::CallInst*, 4> next_block(const llvm::SmallPtrSetImpl<Value*>& left,
                                                   llvm::ArrayRef<llvm::CallInst*> last) const {
    llvm::SmallVector<llvm::CallInst*, 64> ready;
    llvm::DenseMap<std::pair<Value*, Value*>, llvm::CallInst*> of_operands;
    llvm::CallInst* first = nullptr;
    const auto sums = sums_of(last);
    for (llvm::CallInst* call : products_) {
      if (!left.contains(call) || left.contains(call->getArgOperand(0))) continue;
      ready.push_back(call);
      if (!first && llvm::is_contained(sums, call->getArgOperand(0))) first = call;
    }
    if (!first) first = ready.front();
    for (llvm::CallInst* call : ready) of_operands.try_emplace({call->getArgOperand(1), call->getArgOperand(2)}, call);
    Value *a = first->getArgOperand(1), *b = first->getArgOperand(2);
    llvm::SmallVector<llvm::CallInst*, 8> beside, below;  // with the same left operand, with the same right one
    for (llvm::CallInst* call : ready) {
      const bool has_left = call->getArgOperand(1) == a, has_right = call->getArgOperand(2) == b;
      if (has_left && !has_right && largest_.right > 1) beside.push_back(call);
      if (has_right && !has_left && largest_.left > 1) below.push_back(call);
    }
    for (llvm::CallInst* right : beside) {
      for (llvm::CallInst* left_one : below) {
        llvm::CallInst* both = of_operands.lookup({left_one->getArgOperand(1), right->getArgOperand(2)});
        if (both) return {first, right, left_one, both};
      }
    }
    if (!beside.empty()) return {first, beside.front()};
    if (!below.empty()) return {first, below.front()};
    return {first};
  }

  // What the products of a call became, which stand for their sums.
  llvm::SmallVector<Value*, 4> sums_of(llvm::ArrayRef<llvm::CallInst*> products) const {
    llvm::SmallVector<Value*, 4> sums;
    for (llvm::CallInst* call : products) sums.push_back(results_.lookup(call));
    return sums;
  }

  void make_call(llvm::ArrayRef<llvm::CallInst*> products, llvm::Instruction& where) {
    llvm::IRBuilder<> builder(&where);
    ProductBlock block;
    const auto count = static_cast<unsigned>(products.size());
    block.right = count > 1 && products[0]->getArgOperand(1) == products[1]->getArgOperand(1) ? 2 : 1;
    block.left = count / block.right;
    llvm::SmallVector<Value*, 20> arguments;
    const auto add_tiles = [&](Value* matrix) {
      for (unsigned i = 0; i < tiles; ++i) arguments.push_back(piece_of(builder, matrix, i, tile));
    };
    for (llvm::CallInst* call : products) {
      load_late(*call->getArgOperand(0), where);
      add_tiles(call->getArgOperand(0));
    }
    llvm::SmallVector<Value*, 4> kept;  // in slots
    const auto stays_at = [&](Value* matrix, MatrixOrder order) {
      auto rows = rows_in_memory(matrix, order);
      if (rows && !is_as_loaded(rows->loads, where)) rows.reset();
      return rows;
    };
    const auto keep = [&](Value* matrix) {
      kept.push_back(matrix);
      return slot_of(matrix, builder).memory;
    };
    const auto add_place = [&](Value* begin) {
      arguments.push_back(builder.CreateAddrSpaceCast(begin, builder.getPtrTy()));
    };
    if (block.has_left_in_registers()) {
      add_tiles(products[0]->getArgOperand(1));
    } else {
      for (unsigned i = 0; i < block.left; ++i) {
        Value* matrix = products[i * block.right]->getArgOperand(1);
        const auto rows = stays_at(matrix, MatrixOrder::tiles);
        add_place(rows ? rows->begin : keep(matrix));
        block.left_row_bytes[i] = rows ? rows->bytes : 0;
      }
    }
    for (unsigned i = 0; i < block.right; ++i) {
      Value* matrix = products[i]->getArgOperand(2);
      const auto rows = stays_at(matrix, MatrixOrder::rows);
      add_place(rows ? rows->begin : keep(matrix));
      block.row_bytes[i] = rows ? rows->bytes : size * sizeof(float);
    }
    llvm::Function*& callee = functions_[block];
    if (!callee) callee = &make_products(*function_.getParent(), function_, block);
    llvm::CallInst* made = builder.CreateCall(callee, arguments);
    made->setCallingConv(callee->getCallingConv());
    for (Value* matrix : kept) slots_[matrix].last = made;
    for (unsigned i = 0; i < count; ++i) {
      Value* result = count == 1 ? made : piece_of(builder, made, i, whole);
      results_[products[i]] = result;
      products[i]->replaceAllUsesWith(result);
    }
  }

  // A sum that comes out of memory need not be in a register before.
  void load_late(Value& sum, llvm::Instruction& where) const {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&sum);
    if (load && load->isSimple() && load->hasOneUse() && is_as_loaded(load, where)) {
      load->moveBefore(where.getIterator());
    }
  }

  // Whether memory still has in front of an instruction what was loaded.
  bool is_as_loaded(llvm::ArrayRef<llvm::LoadInst*> loads, const llvm::Instruction& where) const {
    llvm::SmallPtrSet<const llvm::Instruction*, size> left(loads.begin(), loads.end());
    if (llvm::any_of(loads, [&](auto* load) { return load->getParent() != where.getParent(); })) return false;
    for (const llvm::Instruction* at = where.getPrevNode(); at && !left.empty(); at = at->getPrevNode()) {
      left.erase(at);
      if (!at->mayWriteToMemory() || own_.contains(at)) continue;
      const bool waits = llvm::is_contained(followers_, at) && !placed_.contains(at);
      const auto is_other = [&](auto* load) { return llvm::isa<llvm::StoreInst>(at) && are_apart(*load, *at); };
      if (!waits && !llvm::all_of(loads, is_other)) return false;
    }
    return true;
  }

  // Filled where the matrix comes from, if that is in the block.
  Slot& slot_of(Value* matrix, llvm::IRBuilder<>& where) {
    Slot& slot = slots_[matrix];
    if (slot.memory) return slot;
    llvm::IRBuilder<> builder(&function_.getEntryBlock(), function_.getEntryBlock().begin());
    slot.memory = builder.CreateAlloca(matrix->getType());
    slot.memory->setAlignment(llvm::Align(64));
    auto* source = llvm::dyn_cast<llvm::Instruction>(matrix);
    if (source && source->getParent() == where.GetInsertBlock() && !llvm::isa<llvm::PHINode>(source)) {
      builder.SetInsertPoint(source->getNextNode());
    } else {
      builder.SetInsertPoint(where.GetInsertBlock(), where.GetInsertPoint());
    }
    own_.insert(builder.CreateLifetimeStart(slot.memory));
    own_.insert(builder.CreateAlignedStore(matrix, slot.memory, llvm::Align(64)));
    return slot;
  }

  llvm::Function& function_;
  llvm::Function& product_;
  Functions& functions_;
  ProductBlock largest_;
  llvm::SmallVector<llvm::CallInst*, 64> products_;
  llvm::SmallVector<llvm::Instruction*, 16> followers_;     // that only rearrange results, or keep them
  llvm::SmallPtrSet<const llvm::Instruction*, 16> placed_;  // of the followers, behind what they wanted
  bool keeps_store_ = false;                                // among the followers
  llvm::SmallPtrSet<Value*, 32> waiting_;                   // both
  llvm::MapVector<Value*, Slot> slots_;                     // of the block
  llvm::SmallPtrSet<const llvm::Instruction*, 32> own_;     // that write to slots
  llvm::DenseMap<llvm::CallInst*, Value*> results_;         // of the products that are computed now
};

}  // namespace

void lower_products(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::Function* opaque = module.getFunction(llvm::StringRef(product_name));
  if (!opaque) return;
  ProductLowering::Functions functions;
  llvm::SmallPtrSet<llvm::Function*, 4> users;
  for (llvm::User* user : opaque->users()) users.insert(llvm::cast<llvm::Instruction>(user)->getFunction());
  for (llvm::Function& function : module) {
    if (!users.contains(&function)) continue;
    ProductLowering lowering(function, *opaque, functions, machine);
    for (llvm::BasicBlock& block : function) lowering.lower(block);
  }
  opaque->eraseFromParent();
  lower_vector_math(module, machine);  // where a fused multiplication is no instruction
}

}  // namespace metalloid::engines::simd
