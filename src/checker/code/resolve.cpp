#include "checker/code/resolve.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <array>
#include <string>
#include <vector>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "ir/operations.h"
#include "ir/support/pointer_roots.h"
#include "ir/support/pointer_tags.h"
#include "metalloid/check.h"
#include "support/address_spaces.h"

namespace metalloid::checker {
namespace {

using llvm::Constant;
using llvm::Value;

// A variable's name as the source has it: a function's own threadgroup variable is _ZZ6kernelvE4tile, where the number
// counts its letters; another one of that name ends in _0.
std::string source_name(llvm::StringRef symbol) {
  if (!symbol.starts_with("_Z")) return symbol.split('.').first.str();
  for (std::size_t at = symbol.size(); at-- > 0;) {
    std::size_t digits = at;
    while (digits > 0 && llvm::isDigit(symbol[digits - 1])) --digits;
    unsigned length = 0;
    if (digits == at || symbol.substr(digits, at - digits).getAsInteger(10, length)) continue;
    if (length == 0 || at + length > symbol.size()) continue;
    const llvm::StringRef rest = symbol.substr(at + length);
    if (rest.empty() || rest.starts_with("_") || rest.starts_with(".")) return symbol.substr(at, length).str();
  }
  return symbol.str();
}

class Resolver {
 public:
  explicit Resolver(ir::KernelModule& kernel)
      : kernel_(kernel), module_(*kernel.module), layout_(module_.getDataLayout()), builder_(module_.getContext()) {}

  void run() {
    entry_ = module_.getFunction(kernel_.info.symbol);
    for (llvm::Function& function : module_) {
      if (!function.isDeclaration()) resolve(function);
    }
    make_table();
  }

 private:
  void resolve(llvm::Function& function) {
    llvm::SmallVector<llvm::CallInst*, 64> checks;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && callee->getName().starts_with(llvm::StringRef(check_prefix))) checks.push_back(call);
    }
    resolve_all(function, take_accesses_to_variables(checks));
    resolve_all(function, checks);
  }

  void resolve_all(llvm::Function& function, llvm::ArrayRef<llvm::CallInst*> checks) {
    ir::PointerRoots roots(function, [&](Value& root) { return describe(root); });
    for (llvm::CallInst* check : checks) {
      builder_.SetInsertPoint(check);
      const llvm::StringRef name = check->getCalledFunction()->getName();
      if (name.starts_with(llvm::StringRef(check_access_name))) {
        resolve_access(*check, roots);
      } else if (name.starts_with(llvm::StringRef(check_division_name))) {
        expect(all_hold(builder_, check->getArgOperand(1)),
               builder_.getInt32(static_cast<std::uint32_t>(CheckClass::division_by_zero)),
               llvm::ConstantPointerNull::get(builder_.getPtrTy()), check->getDebugLoc());
        check->replaceAllUsesWith(check->getArgOperand(0));
      } else if (name == llvm::StringRef(check_used_name)) {
        resolve_use(*check);
      } else {
        resolve_other(*check, name);
      }
      check->eraseFromParent();
    }
  }

  std::optional<ir::PointerRoots::Root> describe(Value& root) {
    const auto described = [&](std::uint64_t size, std::uint32_t number) {
      llvm::IRBuilder<> at(module_.getContext());
      Value* base = &root;
      if (root.getType()->getPointerAddressSpace() != 0) {
        if (auto* constant = llvm::dyn_cast<Constant>(&root)) {
          base = llvm::ConstantExpr::getAddrSpaceCast(constant, at.getPtrTy());
        } else {
          auto* function = llvm::cast<llvm::Argument>(root).getParent();
          at.SetInsertPoint(&function->getEntryBlock(), function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
          base = at.CreateAddrSpaceCast(&root, at.getPtrTy());
        }
      }
      return ir::PointerRoots::Root{{base, at.getInt64(size), at.getInt32(number)}};
    };
    if (Value* tag = ir::tag_of(root)) {  // without one, unknown_root
      llvm::IRBuilder<> at(llvm::cast<llvm::Instruction>(tag)->getNextNode());
      Value* number = at.CreateSub(at.CreateTrunc(tag, at.getInt32Ty()), at.getInt32(1));
      return ir::PointerRoots::Root{{llvm::ConstantPointerNull::get(at.getPtrTy()), at.getInt64(0), number}};
    }
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(&root)) {
      if (argument->getParent() != entry_) return std::nullopt;
      const ArgumentKind kind = kernel_.info.arguments[argument->getArgNo()].kind;
      if (kind == ArgumentKind::builtin || kind == ArgumentKind::tensor || argument->hasByValAttr()) {
        return described(0, trusted_root);
      }
      return described(~std::uint64_t{0}, argument->getArgNo());  // what is bound says how large it is
    }
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&root)) {
      const auto size = variable->getAllocationSize(layout_);
      if (!size || size->isScalable()) return std::nullopt;
      return described(size->getFixedValue(), number_of(*variable, first_private_root, variable->getAllocatedType()));
    }
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&root)) {
      const bool is_threadgroup = global->getAddressSpace() == threadgroup_space;
      return described(
          layout_.getTypeAllocSize(global->getValueType()),
          number_of(*global, is_threadgroup ? first_threadgroup_root : first_constant_root, global->getValueType()));
    }
    return std::nullopt;
  }

  std::uint32_t number_of(const Value& variable, std::uint32_t first, llvm::Type* type) {
    const auto [entry, is_new] = numbers_.try_emplace(&variable, 0);
    if (is_new) {
      entry->second = first + static_cast<std::uint32_t>(named_.size());
      while (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) type = array->getElementType();
      named_.push_back(
          {source_name(variable.getName()), entry->second, static_cast<std::uint32_t>(layout_.getTypeAllocSize(type))});
    }
    return entry->second;
  }

  void resolve_access(llvm::CallInst& check, ir::PointerRoots& roots) {
    Value *address = check.getArgOperand(0), *bytes = check.getArgOperand(1);
    const auto values = roots.values_of(address);
    const auto* root = values ? llvm::dyn_cast<llvm::ConstantInt>((*values)[2]) : nullptr;
    if (root && root->getZExtValue() == trusted_root) {
      check.replaceAllUsesWith(address);
      return;
    }
    if (root && root->getZExtValue() >= first_private_root) {
      resolve_private(check, roots, (*values)[0], (*values)[1]);
      return;
    }
    Value *base = llvm::ConstantPointerNull::get(builder_.getPtrTy()), *size = builder_.getInt64(0),
          *number = builder_.getInt32(unknown_root);
    if (values) {
      base = (*values)[0];
      size = (*values)[1];
      number = (*values)[2];
    }
    const std::string name =
        std::string(checked_access_name) + std::to_string(address->getType()->getPointerAddressSpace());
    llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt64Ty(), *small = builder_.getInt32Ty();
    const auto callee = operation(module_, name, address->getType(),
                                  {address->getType(), pointer, word, small, word, word, small, small, pointer});
    Value* flags = check.getArgOperand(3);
    if (address->getType()->getPointerAddressSpace() == 0) flags = builder_.CreateOr(flags, access_any_space);
    Value* result = builder_.CreateCall(callee, {address, base, size, number, bytes, check.getArgOperand(2), flags,
                                                 thread(), site_of(check.getDebugLoc())});
    check.replaceAllUsesWith(result);
  }

  // Of an array of the thread's own: another index than one inside leads to its beginning.
  void resolve_private(llvm::CallInst& check, ir::PointerRoots& roots, Value* base, Value* size) {
    Value *address = check.getArgOperand(0), *bytes = check.getArgOperand(1);
    Value* offset = roots.offset_of(address);
    Value* room = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, bytes);
    Value* is_inside = builder_.CreateAnd(builder_.CreateICmpULE(offset, room), builder_.CreateICmpULE(bytes, size));
    if (const auto* known = llvm::dyn_cast<Constant>(is_inside); !known || !known->isOneValue()) {
      Value* name = builder_.CreateGlobalString(source_name(base->getName()));
      expect(is_inside, builder_.getInt32(static_cast<std::uint32_t>(CheckClass::out_of_bounds)), name,
             check.getDebugLoc());
      Value* start =
          base->getType() == address->getType() ? base : builder_.CreateAddrSpaceCast(base, address->getType());
      address = builder_.CreateSelect(is_inside, address, start);
    }
    const auto flags =
        static_cast<std::uint32_t>(llvm::cast<llvm::ConstantInt>(check.getArgOperand(3))->getZExtValue());
    Value* odd =
        builder_.CreateAnd(counted_from(builder_, offset, flags), (std::uint64_t{1} << alignment_of(flags)) - 1);
    expect(builder_.CreateIsNull(odd), builder_.getInt32(static_cast<std::uint32_t>(CheckClass::misaligned)),
           text(source_name(base->getName())), check.getDebugLoc());
    check.replaceAllUsesWith(address);
  }

  void resolve_other(llvm::CallInst& check, llvm::StringRef name) {
    llvm::Type *nothing = builder_.getVoidTy(), *small = builder_.getInt32Ty(), *pointer = builder_.getPtrTy();
    if (name == llvm::StringRef(check_expect_name)) {
      expect(check.getArgOperand(0), check.getArgOperand(1), check.getArgOperand(2), check.getDebugLoc());
    } else if (name == llvm::StringRef(check_meeting_name)) {
      builder_.CreateCall(operation(module_, checked_meeting_name, nothing, {small, small, small, small, pointer}),
                          {check.getArgOperand(0), check.getArgOperand(1), check.getArgOperand(2), thread(),
                           site_of(check.getDebugLoc())});
    } else {
      builder_.CreateCall(operation(module_, checked_end_name, nothing, {small}), {thread()});
    }
  }

  // What is undefined is told where it comes from.
  void resolve_use(llvm::CallInst& check) {
    llvm::Type *pointer = builder_.getPtrTy(), *number = builder_.getInt32Ty();
    auto* type = llvm::StructType::get(module_.getContext(), {number, pointer, pointer});
    if (!origins_) {
      std::vector<Constant*> entries = {llvm::ConstantStruct::get(
          type, {builder_.getInt32(static_cast<std::uint32_t>(CheckClass::uninitialised)),
                 llvm::ConstantPointerNull::get(builder_.getPtrTy()), site_of(check.getDebugLoc())})};
      const auto* all = module_.getNamedMetadata(llvm::StringRef(origins_name));
      for (const llvm::MDNode* origin : all->operands()) {
        auto* kind = llvm::mdconst::extract<llvm::ConstantInt>(origin->getOperand(0));
        const auto* place = llvm::cast_or_null<llvm::DILocation>(origin->getOperand(2).get());
        entries.push_back(llvm::ConstantStruct::get(
            type, {kind, text(llvm::cast<llvm::MDString>(origin->getOperand(1))->getString()), site_of(place)}));
      }
      auto* array = llvm::ArrayType::get(type, entries.size());
      origins_ = new llvm::GlobalVariable(module_, array, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                          llvm::ConstantArray::get(array, entries), "metalloid_origins");
    }
    Value* origin = builder_.CreateInBoundsGEP(type, origins_, check.getArgOperand(1));
    const auto member = [&](unsigned index, llvm::Type* of) {
      return builder_.CreateLoad(of, builder_.CreateStructGEP(type, origin, index));
    };
    expect(check.getArgOperand(0), member(0, number), member(1, pointer), member(2, pointer));
  }

  void expect(Value* holds, Value* kind, Value* name, const llvm::DebugLoc& place) {
    expect(holds, kind, name, site_of(place));
  }

  void expect(Value* holds, Value* kind, Value* name, Value* site) {
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(holds); known && known->isOne()) return;
    llvm::Type* pointer = builder_.getPtrTy();
    builder_.CreateCall(
        operation(module_, checked_expect_name, builder_.getVoidTy(),
                  {builder_.getInt1Ty(), builder_.getInt32Ty(), pointer, builder_.getInt32Ty(), pointer}),
        {holds, kind, name, thread(), site});
  }

  Value* thread() {
    auto query = module_.getOrInsertFunction(llvm::StringRef(ir::thread_index_name),
                                             ir::type_of(ir::thread_index_name, module_.getContext()));
    auto* function = llvm::cast<llvm::Function>(query.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    return builder_.CreateCall(query);
  }

  Constant* text(llvm::StringRef text) {
    Constant*& known = texts_[text];
    if (!known) known = llvm::cast<Constant>(builder_.CreateGlobalString(text, "metalloid_text", 0, &module_));
    return known;
  }

  Constant* site_of(const llvm::DebugLoc& place) { return site_of(place.get()); }

  Constant* site_of(const llvm::DILocation* place) {
    Constant*& known = sites_[place];
    if (known) return known;
    Constant* outer = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    std::string file = kernel_.info.source_file;
    std::uint32_t line = kernel_.info.source_line, column = 0;
    if (place && place->getLine() != 0) {
      file = place->getFilename().str();
      line = place->getLine();
      column = place->getColumn();
    }
    if (place && place->getInlinedAt()) outer = site_of(place->getInlinedAt());
    const llvm::DISubprogram* scope = place ? place->getScope()->getSubprogram() : nullptr;
    const bool is_macro = scope && scope->getLinkageName() == llvm::StringRef(ir::macro_scope_name);
    Constant* macro = is_macro ? text(scope->getName()) : llvm::ConstantPointerNull::get(builder_.getPtrTy());
    const auto number = [&](std::uint32_t value) { return builder_.getInt32(value); };
    Constant* value = llvm::ConstantStruct::getAnon(
        {text(file), outer, macro, number(line), number(column), number(++site_count_), number(0)});
    auto* global = new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, value, "metalloid_site");
    global->setAlignment(llvm::Align(8));
    return sites_[place] = global;
  }

  void make_table() {
    std::vector<Constant*> entries;
    for (const Named& named : named_) {
      entries.push_back(llvm::ConstantStruct::getAnon(
          {text(named.name), builder_.getInt32(named.root), builder_.getInt32(named.element_bytes)}));
    }
    entries.push_back(llvm::ConstantStruct::getAnon(
        {llvm::ConstantPointerNull::get(builder_.getPtrTy()), builder_.getInt32(0), builder_.getInt32(0)}));
    auto* type = llvm::ArrayType::get(entries.front()->getType(), entries.size());
    auto* table = new llvm::GlobalVariable(module_, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                           llvm::ConstantArray::get(type, entries), llvm::StringRef(roots_name));
    table->setAlignment(llvm::Align(8));
  }

  struct Named {
    std::string name;
    std::uint32_t root, element_bytes;
  };

  ir::KernelModule& kernel_;
  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  llvm::Function* entry_ = nullptr;
  std::vector<Named> named_;
  llvm::DenseMap<const Value*, std::uint32_t> numbers_;
  llvm::DenseMap<const llvm::DILocation*, Constant*> sites_;
  llvm::StringMap<Constant*> texts_;
  std::uint32_t site_count_ = 0;
  llvm::GlobalVariable* origins_ = nullptr;
};

}  // namespace

bool is_checked(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.getName().starts_with(llvm::StringRef(check_prefix)) && !function.use_empty()) return true;
  }
  return false;
}

void resolve(ir::KernelModule& kernel) { Resolver(kernel).run(); }

}  // namespace metalloid::checker
