#include "engines/cuda/passes/read_references.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>
#include <map>
#include <tuple>

#include "engines/cuda/kernel_abi.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// They are registers from the kernel's beginning on.
constexpr std::uint64_t most_bytes = 64;

struct Member {
  unsigned argument;
  std::uint64_t offset;
  llvm::Type* type;
  bool operator<(const Member& other) const {
    return std::tie(argument, offset, type) < std::tie(other.argument, other.offset, other.type);
  }
};
using Loads = llvm::SmallVector<llvm::LoadInst*, 4>;

class References {
 public:
  References(const Entry& entry, const KernelInfo& info)
      : entry_(entry), info_(info), layout_(entry.function->getDataLayout()) {}

  void run() {
    for (llvm::Instruction& instruction : llvm::instructions(*entry_.function)) {
      if (const llvm::CallInst* call = as_argument(instruction)) note(*call);
    }
    if (!members_.empty()) read();
  }

 private:
  void note(const llvm::CallInst& call) {
    const auto number = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue());
    const std::size_t room = room_for_reference(info_.arguments[number]);
    if (room == 0 || place_of_reference(info_.arguments, number) + room > entry_.parameter_bytes) return;
    note_users(call, number, 0);
  }

  void note_users(const Value& address, unsigned number, std::uint64_t offset) {
    for (const llvm::User* user : address.users()) {
      if (const auto* further = llvm::dyn_cast<llvm::GEPOperator>(user)) {
        llvm::APInt more(64, 0);
        if (further->accumulateConstantOffset(layout_, more) && !more.isNegative()) {
          note_users(*further, number, offset + more.getZExtValue());
        }
        continue;
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      if (!load || !load->isSimple()) continue;
      const std::uint64_t bytes = layout_.getTypeStoreSize(load->getType()).getFixedValue();
      if (offset + bytes > info_.arguments[number].type.size) continue;
      const Member member{number, offset, load->getType()};
      if (!members_.contains(member) && bytes_ + bytes > most_bytes) continue;
      Loads& same = members_[member];
      if (same.empty()) bytes_ += bytes;
      same.push_back(const_cast<llvm::LoadInst*>(load));
    }
  }

  void read() {
    llvm::BasicBlock& first = entry_.function->getEntryBlock();
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(first)) {
      if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variable->moveBefore(first.begin());
    }
    llvm::Instruction* rest = &*first.getFirstNonPHIOrDbgOrAlloca();
    llvm::IRBuilder<> builder(rest);
    const auto load = [&](const Member& member, Value* from, std::uint64_t offset) {
      Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), from, offset);
      const llvm::Align align = llvm::commonAlignment(llvm::Align(inline_alignment), offset);
      return builder.CreateAlignedLoad(member.type, address, std::min(align, layout_.getABITypeAlign(member.type)));
    };
    std::map<unsigned, ConstantPlace> places;
    llvm::SmallVector<llvm::LoadInst*, 8> own;
    for (const auto& [member, loads] : members_) {
      if (!places.contains(member.argument)) {
        places[member.argument] = place_of_constant(builder, entry_, info_, member.argument);
      }
      own.push_back(load(member, entry_.parameters, *places.at(member.argument).place + member.offset));
      own.back()->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
    }
    // A branch for each argument, which is less than to choose between addresses.
    llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
    for (const auto& [argument, place] : places) {
      builder.SetInsertPoint(rest);
      llvm::BasicBlock* before = rest->getParent();
      llvm::Instruction* elsewhere = llvm::SplitBlockAndInsertIfThen(
          builder.CreateNot(place.is_own), rest->getIterator(), /*Unreachable=*/false, unlikely);
      for (const auto& [index, entry] : llvm::enumerate(members_)) {
        const auto& [member, loads] = entry;
        if (member.argument != argument) continue;
        builder.SetInsertPoint(elsewhere);
        // Volatile, or both would become one read of either address.
        llvm::LoadInst* far =
            load(member, builder.CreateAddrSpaceCast(place.elsewhere, builder.getPtrTy(device_space)), member.offset);
        far->setVolatile(true);
        builder.SetInsertPoint(rest->getParent(), rest->getParent()->begin());
        llvm::PHINode* either = builder.CreatePHI(member.type, 2);
        either->addIncoming(own[index], before);
        either->addIncoming(far, elsewhere->getParent());
        for (llvm::LoadInst* each : loads) {
          each->replaceAllUsesWith(either);
          each->eraseFromParent();
        }
      }
    }
  }

  const Entry& entry_;
  const KernelInfo& info_;
  const llvm::DataLayout& layout_;
  llvm::MapVector<Member, Loads, std::map<Member, unsigned>> members_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

void read_references(const Entry& entry, const KernelInfo& info) { References(entry, info).run(); }

}  // namespace metalloid::engines::cuda
