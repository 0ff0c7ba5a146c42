#include "ir/passes/initialisers.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Evaluator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>

#include "ir/passes/check_operations.h"
#include "ir/passes/drop_dead_code.h"
#include "ir/passes/private_names.h"
#include "ir/passes/thread_variables.h"
#include "ir/support/pass_managers.h"
#include "metalloid/error.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

constexpr const char* list_name = "llvm.global_ctors";
constexpr const char* undefined_name = "metalloid.undefined";  // metadata: the function constant without a value

InitialiserRunner& runner() {
  static InitialiserRunner registered = nullptr;
  return registered;
}

// The globals and functions that a function leads to.
class Reach {
 public:
  const llvm::SmallPtrSet<const llvm::Constant*, 16>& from(const llvm::Function& function) {
    add(function);
    while (!functions_.empty()) {
      const llvm::Function* next = functions_.pop_back_val();
      for (const llvm::Instruction& instruction : llvm::instructions(*next)) {
        for (const llvm::Value* operand : instruction.operands()) {
          if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) add(*constant);
        }
      }
    }
    return seen_;
  }

 private:
  void add(const llvm::Constant& constant) {
    if (!seen_.insert(&constant).second) return;
    if (auto* function = llvm::dyn_cast<llvm::Function>(&constant)) {
      functions_.push_back(function);
      return;
    }
    for (const llvm::Value* operand : constant.operands()) add(*llvm::cast<llvm::Constant>(operand));
  }

  llvm::SmallPtrSet<const llvm::Constant*, 16> seen_;
  llvm::SmallVector<const llvm::Function*, 8> functions_;
};

// Initialisers with the indices of those that each reads from; an initialiser comes after those.
struct Ordered {
  std::vector<Initialiser> list;
  std::vector<std::vector<std::size_t>> needs;
};

class Order {
 public:
  explicit Order(std::vector<Initialiser> given) : given_(std::move(given)), state_(given_.size()) {
    for (std::size_t i = 0; i < given_.size(); ++i) index_[given_[i].constant] = i;
    for (std::size_t i = 0; i < given_.size(); ++i) visit(i);
  }
  Ordered take() { return std::move(result_); }

 private:
  struct State {
    bool entered = false, left = false;
    std::size_t place = 0;
  };

  void visit(std::size_t i) {
    if (state_[i].entered) return;
    state_[i].entered = true;
    std::vector<std::size_t> needs;
    Reach reach;
    for (const llvm::Constant* reached : reach.from(*given_[i].function)) {
      auto* global = llvm::dyn_cast<llvm::GlobalVariable>(reached);
      const auto found = global ? index_.find(global) : index_.end();
      if (found == index_.end() || found->second == i) continue;
      visit(found->second);
      if (!state_[found->second].left) {
        throw Error(ErrorCode::invalid_argument, fmt::format("{} depends on its own value, through '{}'",
                                                             describe(given_[i]), source_name(*global)));
      }
      needs.push_back(state_[found->second].place);
    }
    state_[i].left = true;
    state_[i].place = result_.list.size();
    result_.list.push_back(given_[i]);
    result_.needs.push_back(std::move(needs));
  }

  std::vector<Initialiser> given_;
  std::vector<State> state_;
  llvm::DenseMap<const llvm::GlobalVariable*, std::size_t> index_;
  Ordered result_;
};

bool evaluate(llvm::Module& module, llvm::Function& function, const llvm::TargetLibraryInfo& library) {
  llvm::Evaluator evaluator(module.getDataLayout(), &library);
  llvm::Constant* nothing = nullptr;
  if (!evaluator.EvaluateFunction(&function, nothing, llvm::SmallVector<llvm::Constant*, 1>())) return false;
  for (auto& [global, value] : evaluator.getMutatedInitializers()) global->setInitializer(value);
  return true;
}

// The function constant without a value that an initialiser needs, if there is one.
llvm::StringRef find_undefined(const llvm::Function& initialiser) {
  Reach reach;
  for (const llvm::Constant* reached : reach.from(initialiser)) {
    auto* global = llvm::dyn_cast<llvm::GlobalVariable>(reached);
    if (global && is_undefined(*global)) return undefined_root(*global);
  }
  return {};
}

// The constant becomes a declaration, as the function constant is one.
void leave_undefined(llvm::GlobalVariable& constant, llvm::StringRef root) {
  llvm::LLVMContext& context = constant.getContext();
  constant.setMetadata(undefined_name, llvm::MDNode::get(context, llvm::MDString::get(context, root)));
  constant.setInitializer(nullptr);
  constant.setLinkage(llvm::GlobalValue::ExternalLinkage);
}

// A copy of the module with the initialisers and what they call, everything under a name that is found again.
InitialiserProgram make_program(llvm::Module& module, const std::vector<Initialiser>& initialisers) {
  // Names first, so that they are the same on both sides.
  for (llvm::GlobalObject& object : module.global_objects()) {
    if (!object.hasName()) object.setName("metalloid.unnamed");
  }
  InitialiserProgram program;
  program.module = llvm::CloneModule(module);
  llvm::SmallPtrSet<llvm::GlobalValue*, 16> roots;
  for (const Initialiser& initialiser : initialisers) {
    program.functions.push_back(initialiser.function->getName().str());
    program.descriptions.push_back(describe(initialiser));
    program.globals.push_back(initialiser.constant->getName().str());
    roots.insert(program.module->getFunction(initialiser.function->getName()));
    roots.insert(program.module->getNamedGlobal(initialiser.constant->getName()));
  }
  for (llvm::GlobalValue& value : program.module->global_values()) {
    if (value.isDeclaration()) continue;
    value.setLinkage(roots.contains(&value) ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage);
  }
  if (auto* list = program.module->getNamedGlobal(list_name)) list->eraseFromParent();
  PassManagers managers;
  llvm::GlobalDCEPass().run(*program.module, managers.modules);
  for (llvm::GlobalValue& value : program.module->global_values()) {
    if (value.isDeclaration()) continue;
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    value.setDSOLocal(true);
  }
  return program;
}

// The constant that the bytes of two runs stand for.
class ValueReader {
 public:
  ValueReader(llvm::Module& module, const Initialiser& initialiser, const std::vector<InitialiserRun>& runs,
              std::size_t index)
      : module_(module), layout_(module.getDataLayout()), initialiser_(initialiser), runs_(runs), index_(index) {}

  llvm::Constant* read() { return read(initialiser_.constant->getValueType(), 0); }

 private:
  llvm::ArrayRef<std::uint8_t> bytes(std::size_t run, std::uint64_t offset, std::uint64_t size) const {
    return llvm::ArrayRef(runs_[run].bytes[index_]).slice(offset, size);
  }

  llvm::Constant* read(llvm::Type* type, std::uint64_t offset) {
    std::vector<llvm::Constant*> elements;
    if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
      const llvm::StructLayout* places = layout_.getStructLayout(record);
      for (unsigned i = 0; i < record->getNumElements(); ++i) {
        elements.push_back(read(record->getElementType(i), offset + places->getElementOffset(i)));
      }
      return llvm::ConstantStruct::get(record, elements);
    }
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      const std::uint64_t step = layout_.getTypeAllocSize(array->getElementType());
      for (std::uint64_t i = 0; i < array->getNumElements(); ++i) {
        elements.push_back(read(array->getElementType(), offset + i * step));
      }
      return llvm::ConstantArray::get(array, elements);
    }
    if (auto* pointer = llvm::dyn_cast<llvm::PointerType>(type)) return read_pointer(pointer, offset);
    const std::uint64_t size = layout_.getTypeStoreSize(type);
    if (bytes(0, offset, size) != bytes(1, offset, size)) reject();
    llvm::Constant* memory = llvm::ConstantDataArray::get(module_.getContext(), bytes(0, offset, size));
    llvm::Constant* value = llvm::ConstantFoldLoadFromConst(memory, type, layout_);
    if (!value) reject();
    return value;
  }

  std::uint64_t address(std::size_t run, std::uint64_t offset) const {
    std::uint64_t value = 0;
    const llvm::ArrayRef<std::uint8_t> memory = bytes(run, offset, sizeof(value));
    std::copy(memory.begin(), memory.end(), reinterpret_cast<std::uint8_t*>(&value));
    return value;
  }

  llvm::Constant* read_pointer(llvm::PointerType* type, std::uint64_t offset) {
    const std::uint64_t first = address(0, offset), second = address(1, offset);
    if (first == 0 && second == 0) return llvm::ConstantPointerNull::get(type);
    for (std::size_t i = 0; i < runs_[0].places.size(); ++i) {
      const auto& [name, place] = runs_[0].places[i];
      llvm::GlobalValue* target = module_.getNamedValue(name);
      if (!target || first < place) continue;
      const std::uint64_t within = first - place;
      const std::uint64_t size =
          llvm::isa<llvm::Function>(target) ? 0 : layout_.getTypeAllocSize(target->getValueType());
      if (within > size || second - runs_[1].places[i].second != within) continue;
      llvm::Constant* moved = llvm::ConstantExpr::getGetElementPtr(
          llvm::Type::getInt8Ty(module_.getContext()), target,
          llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), within));
      return llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(moved, type);
    }
    reject();
  }

  [[noreturn]] void reject() const {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} holds an address that is not one of a constant or a function", describe(initialiser_)));
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  const Initialiser& initialiser_;
  const std::vector<InitialiserRun>& runs_;
  std::size_t index_;
};

void run(llvm::Module& module, const std::vector<Initialiser>& initialisers) {
  if (!runner()) throw Error(ErrorCode::internal, describe(initialisers.front()) + " needs code that cannot run here");
  InitialiserProgram program = make_program(module, initialisers);
  check_operations(*program.module, program.descriptions.front());
  const std::vector<InitialiserRun> runs = runner()(std::move(program));
  std::vector<llvm::Constant*> values;
  for (std::size_t i = 0; i < initialisers.size(); ++i) {
    values.push_back(ValueReader(module, initialisers[i], runs, i).read());
  }
  for (std::size_t i = 0; i < initialisers.size(); ++i) initialisers[i].constant->setInitializer(values[i]);
}

}  // namespace

std::vector<Initialiser> find_initialisers(const llvm::Module& module) {
  std::vector<Initialiser> result;
  const llvm::GlobalVariable* list = module.getNamedGlobal(list_name);
  auto* entries = list ? llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer()) : nullptr;
  if (!entries) return result;
  for (const llvm::Use& entry : entries->operands()) {
    auto* parts = llvm::cast<llvm::Constant>(entry.get());
    auto* function = llvm::dyn_cast<llvm::Function>(parts->getAggregateElement(1u)->stripPointerCasts());
    auto* constant = llvm::dyn_cast<llvm::GlobalVariable>(parts->getAggregateElement(2u)->stripPointerCasts());
    if (function && constant) result.push_back({constant, function});
  }
  return result;
}

void set_initialisers(llvm::Module& module, const std::vector<Initialiser>& initialisers) {
  llvm::SmallVector<llvm::Function*, 4> named;
  if (llvm::GlobalVariable* list = module.getNamedGlobal(list_name)) {
    if (auto* entries = llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer())) {
      for (const llvm::Use& entry : entries->operands()) {
        llvm::Constant* function = llvm::cast<llvm::Constant>(entry.get())->getAggregateElement(1u);
        if (auto* old = llvm::dyn_cast<llvm::Function>(function->stripPointerCasts())) named.push_back(old);
      }
    }
    list->eraseFromParent();
  }
  for (const Initialiser& initialiser : initialisers) {
    llvm::appendToGlobalCtors(module, initialiser.function, 65535, initialiser.constant);
  }
  for (llvm::Function* old : named) {
    old->removeDeadConstantUsers();
    if (old->use_empty() && old->hasLocalLinkage() && !old->isMaterializable()) old->eraseFromParent();
  }
}

std::string describe(const Initialiser& initialiser) {
  const std::string name = source_name(*initialiser.constant);
  for (const llvm::Instruction& instruction : llvm::instructions(*initialiser.function)) {
    const llvm::DebugLoc& place = instruction.getDebugLoc();
    if (!place || place.getLine() == 0) continue;
    const std::string file = llvm::cast<llvm::DIScope>(place.getScope())->getFilename().str();
    return fmt::format("{}:{}: constant '{}'", file, place.getLine(), name);
  }
  return fmt::format("constant '{}'", name);
}

void set_initialiser_runner(InitialiserRunner chosen) { runner() = chosen; }

llvm::StringRef undefined_root(const llvm::GlobalVariable& global) {
  if (global.getAddressSpace() != constant_space || !global.isDeclaration() || is_thread_variable(global)) return {};
  const llvm::MDNode* root = global.getMetadata(undefined_name);
  return root ? llvm::cast<llvm::MDString>(root->getOperand(0))->getString() : global.getName();
}

namespace {

// Evaluates the initialisers of a module in order.
class Evaluation {
 public:
  explicit Evaluation(llvm::Module& module)
      : module_(module), library_(module.getTargetTriple()), library_info_(library_) {}

  void run(const Ordered& ordered) {
    is_open_.resize(ordered.list.size());
    for (std::size_t i = 0; i < ordered.list.size(); ++i) {
      const Initialiser& initialiser = ordered.list[i];
      if (needs_undefined(initialiser)) continue;
      const auto& needs = ordered.needs[i];
      is_open_[i] = std::any_of(needs.begin(), needs.end(), [&](std::size_t need) { return is_open_[need]; }) ||
                    !evaluate(module_, *initialiser.function, library_info_);
      is_open_[i] ? open_.push_back(initialiser) : initialiser.constant->setConstant(true);
    }
    run_open();
  }

 private:
  // `is_function_constant_defined(c) ? c : 3` and `flag ? c : 3` need no value for c where they do not read it. True if
  // nothing is left to be done: the constant has its value, or cannot have one.
  bool needs_undefined(const Initialiser& initialiser) {
    if (find_undefined(*initialiser.function).empty()) return false;
    run_open();                                                     // what it depends on
    if (evaluate(module_, *initialiser.function, library_info_)) {  // along the one way that is taken
      initialiser.constant->setConstant(true);
      return true;
    }
    drop_dead_code(module_);
    const llvm::StringRef root = find_undefined(*initialiser.function);
    if (root.empty()) return false;
    leave_undefined(*initialiser.constant, root);
    return true;
  }

  void run_open() {
    if (!open_.empty()) ir::run(module_, open_);
    for (const Initialiser& initialiser : open_) initialiser.constant->setConstant(true);
    open_.clear();
    std::fill(is_open_.begin(), is_open_.end(), false);
  }

  llvm::Module& module_;
  llvm::TargetLibraryInfoImpl library_;
  llvm::TargetLibraryInfo library_info_;
  std::vector<Initialiser> open_;  // what LLVM's evaluator of straight code cannot do, and what depends on it
  std::vector<bool> is_open_;
};

}  // namespace

void evaluate_initialisers(llvm::Module& module) {
  const std::vector<Initialiser> initialisers = find_initialisers(module);
  if (initialisers.empty()) return;
  Evaluation(module).run(Order(initialisers).take());
  set_initialisers(module, {});
}

bool reads_undefined(const llvm::Module& module) {
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (!global.use_empty() && is_undefined(global)) return true;
  }
  return false;
}

}  // namespace metalloid::ir
