#include "ir/passes/know_constants.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/DeadArgumentElimination.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/support/pass_down.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

constexpr std::int64_t pointer_bytes = 8;
// Addresses within one variable that are followed.
constexpr unsigned most_addresses = 20'000;

// What is known of a value: nothing yet, that it is always this constant, or that it may be anything.
class Known {
 public:
  static Known anything() { return Known(nullptr, true); }
  explicit Known(llvm::Constant* constant = nullptr, bool is_anything = false)
      : constant_(constant), is_anything_(is_anything) {}

  void meet(const Known& other) {
    if (other.is_anything_ || (constant_ && other.constant_ && constant_ != other.constant_)) {
      *this = anything();
    } else if (!constant_ && !is_anything_) {
      constant_ = other.constant_;
    }
  }
  llvm::Constant* constant() const { return constant_; }
  bool is_anything() const { return is_anything_; }
  bool operator==(const Known&) const = default;

 private:
  llvm::Constant* constant_;
  bool is_anything_;
};

struct Write {
  std::int64_t offset, bytes;
  Value* value;  // null: of no pointer
};
struct Copy {
  std::int64_t offset, bytes;
  llvm::MemTransferInst* instruction;
};
// To a place that varies, counted from one that does not.
struct MovingWrite {
  llvm::StoreInst* store;
  Value* base;
  std::int64_t base_offset;
};
struct Variable {
  std::vector<Write> writes;
  std::vector<MovingWrite> moving;
  std::vector<Copy> copies;  // into it
  bool is_lost = false;      // others may write it, or it is written anywhere
};
struct Place {
  llvm::AllocaInst* variable;
  std::int64_t offset;
};

// Where an address within a variable leads to, in bytes.
struct Position {
  Value* base;                         // an address of the same function, at a known place
  std::int64_t base_offset;            // that place
  std::optional<std::int64_t> offset;  // nothing: it varies
};

bool overlaps_pointer(std::int64_t pointer, std::int64_t offset, std::int64_t bytes) {
  return offset < pointer + pointer_bytes && pointer < offset + bytes;
}

class Constants {
 public:
  explicit Constants(llvm::Module& module) : module_(module), layout_(module.getDataLayout()) {
    for (llvm::Function& function : module) {
      for (llvm::Instruction& instruction : llvm::instructions(function)) {
        auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        if (!variable) continue;
        variable_ = variable;
        followed_.clear();
        follow(*variable, {.base = variable, .base_offset = 0, .offset = 0});
      }
    }
  }

  bool replace() {
    find();
    bool changed = false;
    for (auto& [value, known] : known_) {
      if (!known.constant() || value->use_empty() || known.constant()->getType() != value->getType()) continue;
      value->replaceAllUsesWith(known.constant());
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) load->eraseFromParent();
      changed = true;
    }
    return changed;
  }

 private:
  void lose() { variables_[variable_].is_lost = true; }

  // What becomes of an address within the variable.
  void follow(Value& address, const Position& at) {
    if (!followed_.insert({&address, at.offset.value_or(INT64_MIN)}).second) return;
    if (followed_.size() > most_addresses) return lose();
    for (llvm::Use& use : address.uses()) {
      auto& user = *llvm::cast<llvm::Instruction>(use.getUser());
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&user)) {
        if (load->getType()->isPointerTy()) take_load(*load, at);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&user)) {
        take_store(*store, use.getOperandNo(), at);
      } else if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) {
        llvm::APInt bytes(64, 0);
        if (at.offset && step->accumulateConstantOffset(layout_, bytes)) {
          const std::int64_t offset = *at.offset + bytes.getSExtValue();
          follow(*step, {step, offset, offset});
        } else {
          follow(*step, {at.base, at.base_offset, std::nullopt});
        }
      } else if (llvm::isa<llvm::PHINode, llvm::SelectInst>(user)) {
        follow(user, {at.base, at.base_offset, std::nullopt});
      } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&user)) {
        take_call(*call, use, at);
      } else if (!llvm::isa<llvm::ICmpInst>(user)) {
        lose();
      }
    }
  }

  void take_load(llvm::LoadInst& load, const Position& at) {
    if (at.offset && load.isSimple()) {
      loads_[&load].push_back({variable_, *at.offset});
    } else {
      lost_loads_.insert(&load);
    }
  }

  void take_store(llvm::StoreInst& store, unsigned operand, const Position& at) {
    Value* value = store.getValueOperand();
    if (operand != llvm::StoreInst::getPointerOperandIndex()) return lose();
    Variable& variable = variables_[variable_];
    if (at.offset) {
      variable.writes.push_back({*at.offset, bytes_of(store), value->getType()->isPointerTy() ? value : nullptr});
    } else {
      variable.moving.push_back({&store, at.base, at.base_offset});
    }
  }

  std::int64_t bytes_of(const llvm::StoreInst& store) const {
    return static_cast<std::int64_t>(layout_.getTypeStoreSize(store.getValueOperand()->getType()).getFixedValue());
  }

  void take_call(llvm::CallBase& call, const llvm::Use& use, const Position& at) {
    if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) return take_intrinsic(*intrinsic, use, at.offset);
    llvm::Function* callee = called_definition(call);
    if (!at.offset || !callee || !call.isArgOperand(&use) || call.getArgOperandNo(&use) >= callee->arg_size()) {
      return lose();
    }
    llvm::Argument* parameter = callee->getArg(call.getArgOperandNo(&use));
    follow(*parameter, {parameter, *at.offset, at.offset});
  }

  void take_intrinsic(llvm::IntrinsicInst& intrinsic, const llvm::Use& use, std::optional<std::int64_t> offset) {
    if (intrinsic.isLifetimeStartOrEnd() || intrinsic.isAssumeLikeIntrinsic()) return;
    auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&intrinsic);
    const auto* length = memory ? llvm::dyn_cast<llvm::ConstantInt>(memory->getLength()) : nullptr;
    auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&intrinsic);
    if (copy && use.getOperandNo() == 1) {
      if (offset) {
        sources_[copy].push_back({variable_, *offset});
      } else {
        lost_sources_.insert(copy);
      }
      return;
    }
    if (!length || !offset || memory->isVolatile()) return lose();
    const auto bytes = static_cast<std::int64_t>(length->getZExtValue());
    if (copy) {
      variables_[variable_].copies.push_back({*offset, bytes, copy});
    } else {
      variables_[variable_].writes.push_back({*offset, bytes, nullptr});
    }
  }

  // Whether an address leads to nothing but variables.
  bool is_of_variables(Value& address, llvm::SmallPtrSetImpl<Value*>& asked) const {
    if (!asked.insert(&address).second) return true;
    if (llvm::isa<llvm::AllocaInst>(address)) return true;
    if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(&address)) {
      return is_of_variables(*step->getPointerOperand(), asked);
    }
    auto* parameter = llvm::dyn_cast<llvm::Argument>(&address);
    return parameter && is_known_by_calls(*parameter->getParent()) &&
           llvm::all_of(parameter->getParent()->users(), [&](llvm::User* call) {
             return is_of_variables(*llvm::cast<llvm::CallBase>(call)->getArgOperand(parameter->getArgNo()), asked);
           });
  }

  static bool is_known_by_calls(const llvm::Function& function) {
    return function.hasLocalLinkage() && is_only_called(function);
  }

  void find() {
    for (llvm::Function& function : module_) {
      if (function.isDeclaration() || !is_known_by_calls(function)) continue;
      for (llvm::Argument& parameter : function.args()) {
        if (!parameter.hasPassPointeeByValueCopyAttr()) known_[&parameter] = Known();
      }
    }
    for (const auto& [load, places] : loads_) {
      llvm::SmallPtrSet<Value*, 16> asked;
      if (!lost_loads_.contains(load) && is_of_variables(*load->getPointerOperand(), asked)) known_[load] = Known();
    }
    for (auto& [copy, places] : sources_) {
      llvm::SmallPtrSet<Value*, 16> asked;
      if (!is_of_variables(*copy->getSource(), asked)) lost_sources_.insert(copy);
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (auto& [value, known] : known_) {
        if (known.is_anything()) continue;
        const Known before = known;
        known.meet(derive(*value));
        changes |= !(known == before);
      }
    }
  }

  Known derive(Value& value) {
    Known result;
    if (auto* parameter = llvm::dyn_cast<llvm::Argument>(&value)) {
      for (llvm::User* call : parameter->getParent()->users()) {
        result.meet(ask(*llvm::cast<llvm::CallBase>(call)->getArgOperand(parameter->getArgNo())));
      }
      return result;
    }
    for (const Place& place : loads_[llvm::cast<llvm::LoadInst>(&value)]) {
      Visited visited;
      result.meet(held(place, visited));
    }
    return result;
  }

  Known ask(Value& value) const {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
      return llvm::isa<llvm::UndefValue>(constant) ? Known::anything() : Known(constant);
    }
    const auto known = known_.find(&value);
    return known == known_.end() ? Known::anything() : known->second;
  }

  using Visited = llvm::SmallDenseSet<std::pair<llvm::AllocaInst*, std::int64_t>, 8>;

  // What the eight bytes there may ever hold.
  Known held(const Place& place, Visited& visited) {
    Known result;
    if (!visited.insert({place.variable, place.offset}).second) return result;
    const auto found = variables_.find(place.variable);
    if (found == variables_.end()) return result;
    if (found->second.is_lost) return Known::anything();
    for (const Write& write : found->second.writes) {
      if (!overlaps_pointer(place.offset, write.offset, write.bytes)) continue;
      const bool is_it = write.value && write.offset == place.offset;
      result.meet(is_it ? ask(*write.value) : Known::anything());
    }
    for (const Copy& copy : found->second.copies) {
      const std::int64_t further = place.offset - copy.offset;
      if (!overlaps_pointer(place.offset, copy.offset, copy.bytes)) continue;
      const auto from = sources_.find(copy.instruction);
      if (further < 0 || further + pointer_bytes > copy.bytes || from == sources_.end() ||
          lost_sources_.contains(copy.instruction)) {
        return Known::anything();
      }
      for (const Place& source : from->second) {
        result.meet(held({source.variable, source.offset + further}, visited));
      }
    }
    if (!result.constant()) return result;
    for (const MovingWrite& write : found->second.moving) {
      if (may_write(write, place.offset)) return Known::anything();
    }
    return result;
  }

  // Whether it may reach the pointer there, by what the counters of loops around it come to.
  bool may_write(const MovingWrite& write, std::int64_t pointer) {
    llvm::Function& function = *write.store->getFunction();
    auto& evolution = managers_.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    auto& loops = managers_.functions.getResult<llvm::LoopAnalysis>(function);
    const llvm::SCEV* distance =
        evolution.getMinusSCEV(evolution.getSCEV(write.store->getPointerOperand()), evolution.getSCEV(write.base));
    if (llvm::isa<llvm::SCEVCouldNotCompute>(distance)) return true;
    if (const llvm::Loop* loop = loops.getLoopFor(write.store->getParent())) {
      distance = evolution.applyLoopGuards(distance, loop);
    }
    const llvm::ConstantRange range = evolution.getSignedRange(distance);
    constexpr std::int64_t far = std::int64_t{1} << 40;
    if (range.getSignedMin().slt(-far) || range.getSignedMax().sgt(far)) return true;
    const std::int64_t first = range.getSignedMin().getSExtValue(), last = range.getSignedMax().getSExtValue();
    return overlaps_pointer(pointer, write.base_offset + first, last - first + bytes_of(*write.store));
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  PassManagers managers_;
  llvm::DenseMap<llvm::AllocaInst*, Variable> variables_;
  llvm::MapVector<llvm::LoadInst*, std::vector<Place>> loads_;
  llvm::DenseSet<llvm::LoadInst*> lost_loads_;
  llvm::DenseMap<llvm::MemTransferInst*, std::vector<Place>> sources_;
  llvm::DenseSet<llvm::MemTransferInst*> lost_sources_;
  llvm::MapVector<Value*, Known> known_;
  // While one variable's addresses are followed.
  llvm::AllocaInst* variable_ = nullptr;
  llvm::DenseSet<std::pair<Value*, std::int64_t>> followed_;
};

}  // namespace

void know_constants(llvm::Module& module) {
  const bool has_calls = llvm::any_of(module, [](const llvm::Function& function) {
    return !function.isDeclaration() && function.hasLocalLinkage() && !function.use_empty();
  });
  if (!has_calls || !Constants(module).replace()) return;
  PassManagers managers;
  llvm::ModulePassManager passes;
  passes.addPass(llvm::DeadArgumentEliminationPass());
  passes.run(module, managers.modules);
}

}  // namespace metalloid::ir
