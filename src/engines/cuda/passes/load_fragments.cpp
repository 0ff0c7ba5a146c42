#include "engines/cuda/passes/load_fragments.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engines/cuda/lanes/fragments.h"
#include "ir/support/move_code.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr std::size_t most_at_once = 4;
constexpr unsigned row_bits = 4;  // zeros at the end of an address

// What tensor cores multiply: the numbers of registers of their left and right operands.
struct Multiplication {
  unsigned left, right;
};
std::optional<Multiplication> as_multiplication(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  switch (call ? call->getIntrinsicID() : intrinsic::not_intrinsic) {
    case intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32:
    case intrinsic::nvvm_mma_m16n8k16_row_col_bf16: return Multiplication{4, 2};
    case intrinsic::nvvm_mma_m16n8k8_row_col_f32_f32:
    case intrinsic::nvvm_mma_m16n8k8_row_col_bf16: return Multiplication{2, 1};
    default: return std::nullopt;
  }
}

// A fragment as a left or as a right operand.
struct Operand {
  Fragment fragment;
  bool is_right;
  Instruction *first = nullptr, *last = nullptr;  // of the loads of its elements
  llvm::SmallVector<llvm::Use*, 8> uses{};        // by multiplications

  bool is_by_columns() const { return fragment.is_transposed() != is_right; }
};
using Group = llvm::SmallVector<Operand*, most_at_once>;

class FragmentLoader {
 public:
  FragmentLoader(BasicBlock& block, llvm::ScalarEvolution& evolution)
      : block_(block), evolution_(evolution), builder_(block.getContext()) {}

  void run() {
    llvm::SmallVector<llvm::CallInst*, 32> multiplications;
    for (Instruction& instruction : block_) {
      if (as_multiplication(instruction)) multiplications.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    // Registers of an operand follow each other in the GPU: one load brings them so.
    llvm::SmallVector<Group, 32> lefts, rights;
    for (llvm::CallInst* call : multiplications) {
      const Multiplication shape = *as_multiplication(*call);
      add_group(lefts, *call, 0, shape.left, /*is_right=*/false);
      add_group(rights, *call, shape.left, shape.right, /*is_right=*/true);
    }
    load_all(lefts);
    load_all(rights);
    if (!first_load_) return;
    // Lanes that took other ways to here come together.
    builder_.SetInsertPoint(first_load_);
    builder_.CreateIntrinsic(intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~std::uint32_t{0})});
  }

 private:
  void add_group(llvm::SmallVectorImpl<Group>& groups, llvm::CallInst& call, unsigned first, unsigned count,
                 bool is_right) {
    Group group;
    bool is_known = false;
    for (unsigned i = first; i < first + count; ++i) {
      llvm::Use& use = call.getArgOperandUse(i);
      Value* value = use.get();
      if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
      if (is_right) {
        Value* elements = as_by_columns(*value);
        if (!elements) continue;
        value = elements;
      }
      const auto fragment = as_fragment(*value);
      if (!fragment) continue;
      auto& known = operands_[{value, is_right}];
      is_known |= known != nullptr;
      if (!known) known = std::make_unique<Operand>(Operand{*fragment, is_right});
      known->uses.push_back(&use);
      if (!is_known && can_be_loaded(*known)) group.push_back(known.get());
    }
    if (!is_known && !group.empty()) groups.push_back(group);
  }

  bool can_be_loaded(Operand& operand) const {
    const auto loads = loads_of(*operand.fragment.elements(), block_);
    if (!loads) return false;
    operand.first = loads->first;
    operand.last = loads->last;
    return evolution_.getMinTrailingZeros(evolution_.getSCEV(operand.fragment.row())) >= row_bits;
  }

  void load_all(llvm::ArrayRef<Group> groups) {
    Group together;
    const auto finish = [&] {
      if (!together.empty()) load(together);
      together.clear();
    };
    for (const Group& group : groups) {
      Group more = together;
      more.append(group.begin(), group.end());
      if (more.size() > most_at_once || !place_for(more)) {
        finish();
        more = group;
      }
      if (place_for(more)) {
        together = more;
        continue;
      }
      for (Operand* operand : group) {
        if (place_for({operand})) load({operand});
      }
    }
    finish();
  }

  // One place for all of their reads: behind the last of them, or in front of what first wants one of them. Null if
  // there is none.
  static Instruction* place_for(llvm::ArrayRef<Operand*> group) {
    Instruction *begin = group.front()->first, *end = group.front()->last;
    for (const Operand* operand : group) {
      if (operand->is_by_columns() != group.front()->is_by_columns()) return nullptr;
      if (operand->first->comesBefore(begin)) begin = operand->first;
      if (end->comesBefore(operand->last)) end = operand->last;
    }
    Instruction* place = end->getNextNode();
    for (const Operand* operand : group) {
      for (const llvm::Use* use : operand->uses) {
        auto* user = llvm::cast<Instruction>(use->getUser());
        if (user->comesBefore(place)) place = user;
      }
    }
    for (const Instruction* between = place->comesBefore(begin) ? place : begin; between != end;
         between = between->getNextNode()) {
      // Where lanes of one simdgroup come together nothing is written, and others are not waited for.
      const auto* call = llvm::dyn_cast<llvm::CallInst>(between);
      if (call && call->getIntrinsicID() == intrinsic::nvvm_bar_warp_sync) continue;
      if (between->mayWriteToMemory()) return nullptr;
    }
    const bool can_be_read =
        llvm::all_of(group, [&](const Operand* operand) { return ir::can_be_at(operand->fragment.row(), *place); });
    return can_be_read ? place : nullptr;
  }

  void load(llvm::ArrayRef<Operand*> group) {
    // What is at the place may be one of the rows.
    builder_.SetInsertPoint(place_for(group));
    Instruction* place = builder_.CreateIntrinsic(intrinsic::donothing, {});
    for (const Operand* operand : group) ir::bring(operand->fragment.row(), *place);
    builder_.SetInsertPoint(place);
    // Lanes 8 i to 8 i + 7 say where the rows of the matrix i are.
    Value* row = address(group);
    auto* words =
        builder_.CreateIntrinsic(instruction(group.size(), group.front()->is_by_columns()), {row->getType()}, {row});
    if (!first_load_ || words->comesBefore(first_load_)) first_load_ = words;
    for (const auto& [i, operand] : llvm::enumerate(group)) {
      Value* word = group.size() == 1 ? words : builder_.CreateExtractValue(words, static_cast<unsigned>(i));
      for (llvm::Use* use : operand->uses) use->set(builder_.CreateBitCast(word, use->get()->getType()));
    }
    place->eraseFromParent();
  }

  Value* address(llvm::ArrayRef<Operand*> group) {
    Value* first = group.front()->fragment.row();
    Value* which = builder_.CreateLShr(builder_.CreateIntrinsic(intrinsic::nvvm_read_ptx_sreg_laneid, {}), 3);
    const auto chosen = [&](auto&& of_matrix) {
      Value* result = of_matrix(group.size() - 1);
      for (std::size_t i = group.size() - 1; i-- > 0;) {
        Value* is_own = builder_.CreateICmpEQ(which, builder_.getInt32(static_cast<std::uint32_t>(i)));
        result = builder_.CreateSelect(is_own, of_matrix(i), result);
      }
      return result;
    };
    llvm::SmallVector<llvm::Constant*, most_at_once> distances;
    for (const Operand* operand : group) {
      const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(
          evolution_.getMinusSCEV(evolution_.getSCEV(operand->fragment.row()), evolution_.getSCEV(first)));
      if (!distance) return chosen([&](std::size_t i) -> Value* { return group[i]->fragment.row(); });
      distances.push_back(builder_.getInt64(static_cast<std::uint64_t>(distance->getAPInt().getSExtValue())));
    }
    if (group.size() == 1) return first;
    return builder_.CreateGEP(builder_.getInt8Ty(), first,
                              chosen([&](std::size_t i) -> Value* { return distances[i]; }));
  }

  static intrinsic::ID instruction(std::size_t count, bool by_columns) {
    switch (count) {
      case 1:
        return by_columns ? intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16
                          : intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16;
      case 2:
        return by_columns ? intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                          : intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
      default:
        return by_columns ? intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                          : intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
    }
  }

  BasicBlock& block_;
  llvm::ScalarEvolution& evolution_;
  llvm::IRBuilder<> builder_;
  std::map<std::pair<Value*, bool>, std::unique_ptr<Operand>> operands_;
  Instruction* first_load_ = nullptr;
};

Value* by_columns(Instruction& place, Value* elements) {
  llvm::IRBuilder<> builder(&place);
  llvm::Type* word = builder.getInt32Ty();
  auto* transpose =
      llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, /*isVarArg=*/false),
                           "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", /*hasSideEffects=*/false);
  llvm::CallInst* call = builder.CreateCall(transpose, {builder.CreateBitCast(elements, word)});
  call->addFnAttr(llvm::Attribute::Convergent);
  return builder.CreateBitCast(call, elements->getType());
}

// What was not loaded at once: elements are what lanes read, and right operands are turned.
void lower_marks(llvm::Function& function) {
  for (BasicBlock& block : function) {
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (const auto fragment = as_fragment(instruction)) {
        instruction.replaceAllUsesWith(fragment->elements());
        instruction.eraseFromParent();
      } else if (Value* elements = as_by_columns(instruction)) {
        if (!instruction.use_empty()) instruction.replaceAllUsesWith(by_columns(instruction, elements));
        instruction.eraseFromParent();
      }
    }
  }
}

}  // namespace

void load_fragments(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    ir::PassManagers managers;
    auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (BasicBlock& block : function) FragmentLoader(block, evolution).run();
    lower_marks(function);
  }
}

}  // namespace metalloid::engines::cuda
