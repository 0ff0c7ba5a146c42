#include "engines/reference/lower_meetings.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engines/cpu_shared/passes/thread_state.h"
#include "engines/reference/expand_masks.h"
#include "engines/reference/meeting_abi.h"
#include "ir/meeting_order.h"
#include "ir/operations.h"
#include "ir/passes/inline_choice.h"
#include "ir/support/pass_down.h"

namespace metalloid::engines::reference {
namespace {

using llvm::Value;

// A meeting, or the call of a function with meetings.
struct Meeting {
  llvm::CallInst* call;
  Site site;
};

std::optional<Site> site_of(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return std::nullopt;
  std::string_view name = callee->getName();
  if (name == agree_name) return Site{Site::Kind::agree, 0, 0, 0};
  if (name == ir::threadgroup_barrier_name) return Site{Site::Kind::threadgroup_barrier, 0, 0, 0};
  if (name == ir::simdgroup_barrier_name || name == ir::turn_end_name) {
    return Site{Site::Kind::simdgroup_barrier, 0, 0, 0};
  }
  if (auto operation = ir::parse_matrix_operation(name)) {
    return Site{Site::Kind::matrix, static_cast<std::uint8_t>(operation->action),
                static_cast<std::uint8_t>(operation->a), static_cast<std::uint8_t>(operation->b)};
  }
  auto operation = ir::parse_cross_lane(name);
  if (!operation) return std::nullopt;
  return Site{Site::Kind::cross_lane, static_cast<std::uint8_t>(operation->operation),
              static_cast<std::uint8_t>(operation->type), static_cast<std::uint8_t>(operation->group)};
}

void collect(llvm::Function& function, const ir::FunctionSet& meeting, std::vector<Meeting>& meetings) {
  if (!meeting.contains(&function)) return;
  for (llvm::BasicBlock* block : ir::meeting_order(function)) {
    for (llvm::Instruction& instruction : *block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call) continue;
      if (auto site = site_of(*call)) meetings.push_back({call, *site});
      if (meeting.contains(call->getCalledFunction())) meetings.push_back({call, Site{Site::Kind::call, 0, 0, 0}});
    }
  }
}

Value* widen(llvm::IRBuilder<>& builder, Value* value) {
  llvm::Type* bits = builder.getIntNTy(value->getType()->getPrimitiveSizeInBits());
  return builder.CreateZExt(builder.CreateBitCast(value, bits), builder.getInt64Ty());
}

Value* narrow(llvm::IRBuilder<>& builder, Value* value, llvm::Type* type) {
  llvm::Type* bits = builder.getIntNTy(type->getPrimitiveSizeInBits());
  return builder.CreateBitCast(builder.CreateTrunc(value, bits), type);
}

class MeetingLowering {
 public:
  MeetingLowering(llvm::Module& module, llvm::Function& entry) : module_(module), entry_(entry) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* pointer = llvm::PointerType::get(context, 0);
    llvm::Type* u64 = llvm::Type::getInt64Ty(context);
    cross_lane_ = module.getOrInsertFunction(llvm::StringRef(cross_lane_name), u64, pointer, pointer, u64, u64, u64);
    barrier_ =
        module.getOrInsertFunction(llvm::StringRef(barrier_name), llvm::Type::getVoidTy(context), pointer, pointer);
    for (llvm::Value* callee : {cross_lane_.getCallee(), barrier_.getCallee()}) {
      auto* function = llvm::cast<llvm::Function>(callee);
      function->addFnAttr(llvm::Attribute::Convergent);
      function->addFnAttr(llvm::Attribute::NoUnwind);
    }
    llvm::cast<llvm::Function>(cross_lane_.getCallee())->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }

  void run() {
    const ir::FunctionSet meeting = pass_paths_down();
    std::vector<Meeting> meetings;
    collect(entry_, meeting, meetings);
    for (llvm::Function& function : module_) {
      if (&function != &entry_ && !function.isDeclaration()) collect(function, meeting, meetings);
    }
    llvm::GlobalVariable* sites = make_sites(meetings);
    llvm::DenseMap<llvm::Function*, Value*> states;
    llvm::DenseMap<llvm::Function*, llvm::AllocaInst*> records;
    for (std::size_t i = 0; i < meetings.size(); ++i) {
      llvm::CallInst& call = *meetings[i].call;
      if (meetings[i].site.kind == Site::Kind::call) {
        extend_path(call, site_address(sites, i), records[call.getFunction()]);
        continue;
      }
      Value*& state = states[call.getFunction()];
      if (!state) state = cpu::state_in(*call.getFunction(), entry_);
      llvm::IRBuilder<> builder(&call);
      if (Value* path = paths_.lookup(call.getFunction())) builder.CreateCall(call_path_, {state, path});
      replace(builder, call, meetings[i].site, state, site_address(sites, i));
    }
    lower_thread_queries(states);
  }

 private:
  // Lanes at one site go on together only if the same calls brought them there, as if all was one flat function, and
  // who comes first is decided by the outermost calls that differ. So functions with meetings are told by which calls
  // they are reached. Returns these functions.
  ir::FunctionSet pass_paths_down() {
    llvm::SmallVector<llvm::Function*, 8> users;
    for (llvm::Function* function : functions_with_sites()) {
      if (function != &entry_) users.push_back(function);
    }
    if (users.empty()) return functions_with_sites();
    llvm::Type* pointer = llvm::PointerType::get(module_.getContext(), 0);
    call_path_ = module_.getOrInsertFunction(llvm::StringRef(call_path_name),
                                             llvm::Type::getVoidTy(module_.getContext()), pointer, pointer);
    llvm::cast<llvm::Function>(call_path_.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    Value* none = llvm::ConstantPointerNull::get(llvm::PointerType::get(module_.getContext(), 0));
    paths_ = ir::pass_down(module_, users, pointer, "path", [&](llvm::Function&) { return none; });
    return functions_with_sites();
  }

  ir::FunctionSet functions_with_sites() {
    return ir::functions_that_lead_to(module_, [](llvm::StringRef name) { return ir::is_meeting(name); });
  }

  static Value* site_address(llvm::GlobalVariable* sites, std::size_t i) {
    return llvm::ConstantExpr::getGetElementPtr(
        llvm::Type::getInt8Ty(sites->getContext()), sites,
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(sites->getContext()), i * sizeof(Site)));
  }

  // The last argument of a call of a function with meetings becomes the caller's record.
  void extend_path(llvm::CallInst& call, Value* site, llvm::AllocaInst*& record) {
    llvm::Function* callee = call.getCalledFunction();
    auto* parameter = llvm::dyn_cast_or_null<llvm::Argument>(paths_.lookup(callee));
    if (!parameter) return;  // called through a pointer as well
    llvm::Function& caller = *call.getFunction();
    llvm::Type* pointer = llvm::PointerType::get(module_.getContext(), 0);
    if (!record) {
      Value* outer = paths_.lookup(&caller);
      llvm::IRBuilder<> start(&caller.getEntryBlock(), caller.getEntryBlock().getFirstInsertionPt());
      record = start.CreateAlloca(llvm::ArrayType::get(pointer, 2), nullptr, "path");
      start.SetInsertPoint(&caller.getEntryBlock(), caller.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      start.CreateStore(outer ? outer : llvm::ConstantPointerNull::get(llvm::PointerType::get(module_.getContext(), 0)),
                        record);
    }
    llvm::IRBuilder<> builder(&call);
    builder.CreateStore(site, builder.CreateConstInBoundsGEP1_64(pointer, record, 1));
    call.setArgOperand(parameter->getArgNo(), record);
  }

  llvm::GlobalVariable* make_sites(const std::vector<Meeting>& meetings) {
    std::vector<std::uint8_t> bytes;
    for (const Meeting& meeting : meetings) {
      auto* first = reinterpret_cast<const std::uint8_t*>(&meeting.site);
      bytes.insert(bytes.end(), first, first + sizeof(Site));
    }
    llvm::Constant* table = llvm::ConstantDataArray::get(module_.getContext(), bytes);
    auto* global = new llvm::GlobalVariable(module_, table->getType(), true, llvm::GlobalValue::InternalLinkage, table,
                                            "metalloid_sites");
    global->setAlignment(llvm::Align(4));
    return global;
  }

  void replace(llvm::IRBuilder<>& builder, llvm::CallInst& call, const Site& site, Value* state, Value* address) {
    if (site.kind == Site::Kind::cross_lane || site.kind == Site::Kind::matrix || site.kind == Site::Kind::agree) {
      std::array<Value*, 3> words;
      words.fill(llvm::PoisonValue::get(builder.getInt64Ty()));
      for (unsigned i = 0; i < call.arg_size(); ++i) words[i] = widen(builder, call.getArgOperand(i));
      Value* result = builder.CreateCall(cross_lane_, {state, address, words[0], words[1], words[2]});
      call.replaceAllUsesWith(narrow(builder, result, call.getType()));
    } else {
      builder.CreateCall(barrier_, {state, address});
    }
    call.eraseFromParent();
  }

  // Where the index is not passed down (lower_arguments).
  void lower_thread_queries(llvm::DenseMap<llvm::Function*, Value*>& states) {
    llvm::Function* query = module_.getFunction(llvm::StringRef(ir::thread_index_name));
    if (!query) return;
    llvm::Type* u32 = llvm::Type::getInt32Ty(module_.getContext());
    auto thread = module_.getOrInsertFunction(llvm::StringRef(cpu::current_thread_name), u32,
                                              llvm::PointerType::get(module_.getContext(), 0));
    for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call) continue;
      Value*& state = states[call->getFunction()];
      if (!state) state = cpu::state_in(*call->getFunction(), entry_);
      llvm::IRBuilder<> builder(call);
      call->replaceAllUsesWith(builder.CreateCall(thread, {state}));
      call->eraseFromParent();
    }
  }

  llvm::Module& module_;
  llvm::Function& entry_;
  llvm::FunctionCallee cross_lane_, barrier_, call_path_;
  llvm::DenseMap<llvm::Function*, Value*> paths_;  // of functions with meetings, the entry point's is null
};

}  // namespace

void lower_meetings(llvm::Module& module, llvm::Function& entry) { MeetingLowering(module, entry).run(); }

}  // namespace metalloid::engines::reference
