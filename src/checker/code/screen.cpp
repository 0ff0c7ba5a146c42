#include "checker/code/screen.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/KnownBits.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "ir/bounds/thread_overruns.h"
#include "ir/support/pointer_roots.h"
#include "support/address_spaces.h"

namespace metalloid::checker {
namespace {

using llvm::Value;

class Screening {
 public:
  explicit Screening(ir::KernelModule& kernel)
      : kernel_(kernel), module_(*kernel.module), builder_(module_.getContext()) {}

  void run() {
    ir::report_thread_overruns(module_);
    entry_ = module_.getFunction(kernel_.info.symbol);
    for (llvm::Function& function : module_) {
      if (!function.isDeclaration()) visit(function);
    }
    spread_unknown();
    for (const Access& access : accesses_) ask(access);
    make_table();
  }

 private:
  struct Access {
    llvm::CallInst* check;
    std::uint32_t root;
    Value* offset;  // from where the memory begins; null: not known
    std::uint32_t flags;
  };

  void visit(llvm::Function& function) {
    llvm::SmallVector<llvm::CallInst*, 64> checks;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && callee->getName().starts_with(llvm::StringRef(check_prefix))) checks.push_back(call);
    }
    visit_all(function, take_accesses_to_variables(checks));
    visit_all(function, checks);
  }

  void visit_all(llvm::Function& function, llvm::ArrayRef<llvm::CallInst*> checks) {
    ir::PointerRoots roots(function, [&](Value& root) { return describe(root); });
    for (llvm::CallInst* check : checks) {
      const llvm::StringRef name = check->getCalledFunction()->getName();
      builder_.SetInsertPoint(check);
      if (name.starts_with(llvm::StringRef(check_access_name))) {
        note(*check, roots);
        continue;
      }
      if (name.starts_with(llvm::StringRef(check_division_name))) {
        call(std::string(screen_expect_name), {all_hold(builder_, check->getArgOperand(1))});
        check->replaceAllUsesWith(check->getArgOperand(0));
        check->eraseFromParent();
        continue;
      }
      if (name == llvm::StringRef(check_used_name)) {
        call(std::string(screen_expect_name), {check->getArgOperand(0)});
        check->eraseFromParent();
        continue;
      }
      const llvm::StringRef what = name.drop_front(check_prefix.size());
      llvm::SmallVector<Value*, 3> operands(check->args());
      if (name == llvm::StringRef(check_expect_name)) operands.truncate(1);
      call((llvm::StringRef(screen_prefix) + what).str(), operands);
      check->eraseFromParent();
    }
  }

  std::optional<ir::PointerRoots::Root> describe(Value& root) {
    const auto number = [&](std::uint32_t number, std::uint64_t size = 0) {
      return ir::PointerRoots::Root{{builder_.getInt32(number), builder_.getInt64(size)}};
    };
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(&root)) {
      if (argument->getParent() != entry_) return std::nullopt;
      const ArgumentKind kind = kernel_.info.arguments[argument->getArgNo()].kind;
      if (kind == ArgumentKind::builtin || kind == ArgumentKind::tensor || argument->hasByValAttr()) {
        return number(trusted_root);
      }
      return number(kind == ArgumentKind::threadgroup_memory ? first_threadgroup_root : argument->getArgNo());
    }
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&root)) {
      const auto size = variable->getAllocationSize(module_.getDataLayout());
      if (!size || size->isScalable()) return std::nullopt;
      return number(first_private_root, size->getFixedValue());
    }
    if (auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&root)) {
      return number(global->getAddressSpace() == threadgroup_space ? first_threadgroup_root : first_constant_root);
    }
    return std::nullopt;
  }

  void note(llvm::CallInst& check, ir::PointerRoots& roots) {
    Value* address = check.getArgOperand(0);
    const auto flags =
        static_cast<std::uint32_t>(llvm::cast<llvm::ConstantInt>(check.getArgOperand(3))->getZExtValue());
    Access access{&check, unknown_root, nullptr, flags};
    if (const auto values = roots.values_of(address)) {
      if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>((*values)[0])) {
        access.root = static_cast<std::uint32_t>(known->getZExtValue());
        access.offset = roots.offset_of(address);
      }
    }
    if (access.root == unknown_root && address->getType()->getPointerAddressSpace() == 0) {
      access.flags |= access_any_space;
    }
    const bool is_told = (flags & access_atomic) != 0 && !is_blind(check);
    check.replaceAllUsesWith(address);
    if (access.root == first_private_root) {
      expect_inside(access, (*roots.values_of(address))[1]);
      expect_aligned(access.offset, flags);
      check.eraseFromParent();
      return;
    }
    if (access.root == trusted_root) {
      check.eraseFromParent();
      return;
    }
    ScreenedRoot& root = root_of(access.root);
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(check.getArgOperand(1));
    const auto known_bytes = bytes ? static_cast<unsigned>(std::countr_zero(bytes->getZExtValue())) : 0;
    root.unit = std::min({root.unit, known_bytes, alignment_of(flags)});
    if ((flags & (access_writes | access_atomic)) != 0) root.uses |= screened_written;
    if (is_told && access.root != first_threadgroup_root) root_of(unknown_root).uses |= screened_exchanged;
    accesses_.push_back(access);
  }

  // Whether what atomic accesses there find in memory has no effect.
  static bool is_blind(const llvm::CallInst& check) {
    return llvm::all_of(check.users(), [](const llvm::User* user) {
      return llvm::isa<llvm::StoreInst>(user) || (llvm::isa<llvm::AtomicRMWInst>(user) && user->use_empty());
    });
  }

  ScreenedRoot& root_of(std::uint32_t number) {
    const ScreenedRoot fresh{.root = number, .unit = most_unit, .alignment = 0, .uses = 0};
    return roots_.try_emplace(number, fresh).first->second;
  }

  // Of the thread's own variables, which stay easy to optimise if nobody asks for their addresses.
  void expect_inside(const Access& access, Value* size) {
    Value* bytes = access.check->getArgOperand(1);
    Value* room = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, size, bytes);
    Value* is_inside =
        builder_.CreateAnd(builder_.CreateICmpULE(access.offset, room), builder_.CreateICmpULE(bytes, size));
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(is_inside);
    if (!known || !known->isOne()) call(std::string(screen_expect_name), {is_inside});
  }

  // An address that nothing is known of may lead to any argument.
  void spread_unknown() {
    const ScreenedRoot unknown = root_of(unknown_root);
    if (std::none_of(accesses_.begin(), accesses_.end(), [](const Access& a) { return a.root == unknown_root; }))
      return;
    root_of(first_threadgroup_root);
    for (std::uint32_t i = 0; i < kernel_.info.arguments.size(); ++i) {
      const ArgumentKind kind = kernel_.info.arguments[i].kind;
      if (kind == ArgumentKind::buffer || kind == ArgumentKind::tensor) root_of(i);
    }
    for (auto& [number, root] : roots_) {
      root.unit = std::min(root.unit, unknown.unit);
      root.uses |= unknown.uses & screened_written;
    }
  }

  void ask(const Access& access) {
    builder_.SetInsertPoint(access.check);
    ScreenedRoot& root = root_of(access.root);
    check_alignment(access, root);
    const bool is_argument = access.root < first_threadgroup_root;
    const bool is_shared = is_argument ? (root.uses & screened_written) != 0 : access.root != first_constant_root;
    const bool writes = (access.flags & access_writes) != 0;
    if (is_argument && writes && kernel_.info.arguments[access.root].access == metalloid::Access::read) {
      call(std::string(screen_expect_name), {builder_.getFalse()});
    } else {
      Value* address = access.check->getArgOperand(0);
      const std::uint32_t flags = access.flags | (is_shared ? 0 : access_only_bounds);
      call(std::string(screen_access_name) + std::to_string(address->getType()->getPointerAddressSpace()),
           {address, builder_.getInt32(access.root), access.check->getArgOperand(1), builder_.getInt32(flags)});
    }
    access.check->eraseFromParent();
  }

  // Of an offset that is a multiple anyway it is enough to ask once where the memory begins.
  void check_alignment(const Access& access, ScreenedRoot& root) {
    const unsigned alignment = alignment_of(access.flags);
    if (alignment == 0) return;
    if (!access.offset) {
      Value* address = builder_.CreatePtrToInt(access.check->getArgOperand(0), builder_.getInt64Ty());
      return expect_aligned(address, access.flags);
    }
    if (access.root < first_threadgroup_root) root.alignment = std::max(root.alignment, alignment);
    expect_aligned(access.offset, access.flags);
  }

  void expect_aligned(Value* number, std::uint32_t flags) {
    const unsigned alignment = alignment_of(flags);
    number = counted_from(builder_, number, flags);
    if (llvm::computeKnownBits(number, module_.getDataLayout()).countMinTrailingZeros() >= alignment) return;
    Value* odd = builder_.CreateAnd(number, (std::uint64_t{1} << alignment) - 1);
    call(std::string(screen_expect_name), {builder_.CreateIsNull(odd)});
  }

  void call(const std::string& name, llvm::ArrayRef<Value*> operands) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (Value* operand : operands) types.push_back(operand->getType());
    auto callee = operation(module_, name, builder_.getVoidTy(), types);
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    function->addFnAttr(llvm::Attribute::Convergent);  // which lanes take part is asked
    builder_.CreateCall(callee, operands);
  }

  void make_table() {
    std::vector<llvm::Constant*> entries;
    for (const auto& [number, root] : roots_) {  // unknown_root is the last
      entries.push_back(llvm::ConstantDataArray::get(
          module_.getContext(), llvm::ArrayRef<std::uint32_t>({root.root, root.unit, root.alignment, root.uses})));
    }
    auto* type = llvm::ArrayType::get(entries.front()->getType(), entries.size());
    auto* table = new llvm::GlobalVariable(module_, type, /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                           llvm::ConstantArray::get(type, entries), llvm::StringRef(screened_name));
    table->setAlignment(llvm::Align(8));
  }

  ir::KernelModule& kernel_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  llvm::Function* entry_ = nullptr;
  std::vector<Access> accesses_;
  std::map<std::uint32_t, ScreenedRoot> roots_;
};

}  // namespace

void screen(ir::KernelModule& kernel) { Screening(kernel).run(); }

}  // namespace metalloid::checker
