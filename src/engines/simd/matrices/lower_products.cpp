// lower_products
//
//   %d = call <64 x float> @metalloid_matrix_product(<64 x float> %c, <64 x float> %a, <64 x float> %b)
//   %e = call <64 x float> @metalloid_matrix_product(<64 x float> %f, <64 x float> %a, <64 x float> %g)
// ->
//   store <64 x float> %b, ptr %slot.b
//   store <64 x float> %g, ptr %slot.g
//   %de = call x86_regcallcc <128 x float> @metalloid.products.2(<16 x float> %c.0, ... %f.3, ... %a.3, ptr %slot.b,
//                                                                ptr %slot.g)
//
// A step k of a product multiplies column k of a by row k of b: of a tile of a, element k of each row goes to all four
// places of its quarter, and four elements of the row of b go to all quarters. The first is a permutation within
// quarters, the second comes out of memory as it is wanted. c, a and the result stay in registers. Permutations and
// half of the multiplications want the same part of the processor: so two products of one left operand are computed
// together, and their sums are chains enough to keep it busy.
//
//   1. Products of a block wait until something wants a result. To keep it in memory is no reason while nothing else
//      goes to memory.
//   2. Then they are computed in an order in which each has its sum, in pairs where there are two of one left operand.
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/simd/math/lower_vector_math.h"
#include "engines/simd/matrices/matrix_products.h"
#include "engines/simd/vectors/joined_vectors.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned size = 8, tile = 16, tiles = 4, whole = size * size;

struct Place {
  unsigned row, column;
};

Place place_in(MatrixOrder order, unsigned index) {
  if (order == MatrixOrder::rows) return {index / size, index % size};
  return {index / 32 * 4 + index / 4 % 4, index / 16 % 2 * 4 + index % 4};
}

// Of the lane's layout (ir/operations.def), both vectors counted through.
unsigned lane_index(Place place) {
  const unsigned lane =
      (place.row >> 2) << 4 | ((place.column >> 2) & 1) << 3 | (place.row & 3) << 1 | ((place.column >> 1) & 1);
  return (place.column & 1) * simdgroup_width + lane;
}

llvm::CallingConv::ID convention(const llvm::Module& module) {
  return module.getTargetTriple().isX86() ? llvm::CallingConv::X86_RegCall : llvm::CallingConv::C;
}

// 32 registers of 512 bits hold the sums of two products. (LLVM prefers shorter ones on some processors that have
// them.)
unsigned most_together(const llvm::TargetMachine& machine) {
  return machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+avx512f") ? 2 : 1;
}

llvm::Function& make_function(llvm::Module& module, const llvm::Function& user, unsigned count) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* vector = llvm::FixedVectorType::get(builder.getFloatTy(), tile);
  llvm::SmallVector<llvm::Type*, 14> parameters((count + 1) * tiles, vector);
  parameters.append(count, builder.getPtrTy());
  auto* result = llvm::FixedVectorType::get(builder.getFloatTy(), whole * count);
  auto* made =
      llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::GlobalValue::InternalLinkage,
                             "metalloid.products." + llvm::Twine(count), module);
  made->setCallingConv(convention(module));
  for (const llvm::Attribute& attribute : user.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) made->addFnAttr(attribute);
  }
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn}) {
    made->addFnAttr(attribute);
  }
  made->setOnlyReadsMemory();
  made->setOnlyAccessesArgMemory();
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", made));
  llvm::SmallVector<Value*, 2 * tiles> sums;
  for (unsigned i = 0; i < count * tiles; ++i) sums.push_back(made->getArg(i));
  for (unsigned k = 0; k < size; ++k) {
    llvm::SmallVector<std::array<Value*, 2>, 2> rows(count);  // left and right half
    for (unsigned i = 0; i < count * 2; ++i) {
      Value* place = builder.CreateConstInBoundsGEP1_64(builder.getFloatTy(), made->getArg((count + 1) * tiles + i / 2),
                                                        std::uint64_t{k} * size + i % 2 * 4);
      Value* four =
          builder.CreateAlignedLoad(llvm::FixedVectorType::get(builder.getFloatTy(), 4), place, llvm::Align(16));
      llvm::SmallVector<int, tile> places;
      for (unsigned at = 0; at < tile; ++at) places.push_back(static_cast<int>(at % 4));
      rows[i / 2][i % 2] = builder.CreateShuffleVector(four, places);
    }
    for (unsigned half = 0; half < 2; ++half) {  // upper and lower
      llvm::SmallVector<int, tile> places;
      for (unsigned i = 0; i < tile; ++i) places.push_back(static_cast<int>(i / 4 * 4 + k % 4));
      Value* column = builder.CreateShuffleVector(made->getArg(count * tiles + half * 2 + k / 4), places);
      for (unsigned i = 0; i < count * 2; ++i) {
        Value*& sum = sums[i / 2 * tiles + half * 2 + i % 2];
        sum = builder.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {column, rows[i / 2][i % 2], sum});
      }
    }
  }
  builder.CreateRet(join(builder, sums));
  return *made;
}

// Products of a function.
class ProductLowering {
 public:
  ProductLowering(llvm::Function& function, llvm::Function& product, std::array<llvm::Function*, 2>& functions,
                  const llvm::TargetMachine& machine)
      : function_(function), product_(product), functions_(functions), most_(most_together(machine)) {}

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
    while (!left.empty()) {
      llvm::SmallVector<llvm::CallInst*, 2> together;
      for (llvm::CallInst* call : products_) {
        if (!left.contains(call) || left.contains(call->getArgOperand(0))) continue;
        if (!together.empty() && together[0]->getArgOperand(1) != call->getArgOperand(1)) continue;
        together.push_back(call);
        if (together.size() == most_) break;
      }
      make_call(together, where);
      for (llvm::CallInst* call : together) left.erase(call);
    }
    for (llvm::Instruction* follower : followers_) follower->moveBefore(where.getIterator());
    for (llvm::CallInst* call : products_) call->eraseFromParent();
    products_.clear();
    followers_.clear();
    waiting_.clear();
    keeps_store_ = false;
  }

  void make_call(llvm::ArrayRef<llvm::CallInst*> products, llvm::Instruction& where) {
    llvm::IRBuilder<> builder(&where);
    const auto count = static_cast<unsigned>(products.size());
    llvm::SmallVector<Value*, 14> arguments;
    const auto add_tiles = [&](Value* matrix) {
      for (unsigned i = 0; i < tiles; ++i) arguments.push_back(piece_of(builder, matrix, i, tile));
    };
    for (llvm::CallInst* call : products) add_tiles(call->getArgOperand(0));
    add_tiles(products[0]->getArgOperand(1));
    for (llvm::CallInst* call : products) arguments.push_back(slot_of(call->getArgOperand(2), builder).memory);
    llvm::Function*& callee = functions_[count - 1];
    if (!callee) callee = &make_function(*function_.getParent(), function_, count);
    llvm::CallInst* made = builder.CreateCall(callee, arguments);
    made->setCallingConv(callee->getCallingConv());
    for (unsigned i = 0; i < count; ++i) {
      slots_[products[i]->getArgOperand(2)].last = made;
      products[i]->replaceAllUsesWith(count == 1 ? made : piece_of(builder, made, i, whole));
    }
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
    builder.CreateLifetimeStart(slot.memory);
    builder.CreateAlignedStore(matrix, slot.memory, llvm::Align(64));
    return slot;
  }

  llvm::Function& function_;
  llvm::Function& product_;
  std::array<llvm::Function*, 2>& functions_;  // of one product and of two
  unsigned most_;
  llvm::SmallVector<llvm::CallInst*, 64> products_;
  llvm::SmallVector<llvm::Instruction*, 16> followers_;  // that only rearrange results, or keep them
  bool keeps_store_ = false;                             // among the followers
  llvm::SmallPtrSet<Value*, 32> waiting_;                // both
  llvm::MapVector<Value*, Slot> slots_;                  // of the block
};

}  // namespace

Value* put_in_order(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> matrix, MatrixOrder order) {
  llvm::SmallVector<int, whole> places;
  for (unsigned i = 0; i < whole; ++i) places.push_back(static_cast<int>(lane_index(place_in(order, i))));
  return builder.CreateShuffleVector(matrix[0], matrix[1], places);
}

llvm::SmallVector<Value*, 2> take_from_order(llvm::IRBuilder<>& builder, Value* matrix, MatrixOrder order) {
  llvm::SmallVector<int, whole> places(whole);
  for (unsigned i = 0; i < whole; ++i) places[lane_index(place_in(order, i))] = static_cast<int>(i);
  return {builder.CreateShuffleVector(matrix, llvm::ArrayRef(places).take_front(simdgroup_width)),
          builder.CreateShuffleVector(matrix, llvm::ArrayRef(places).drop_front(simdgroup_width))};
}

void lower_products(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::Function* opaque = module.getFunction(llvm::StringRef(product_name));
  if (!opaque) return;
  std::array<llvm::Function*, 2> functions{};
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
