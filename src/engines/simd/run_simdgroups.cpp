#include "engines/simd/run_simdgroups.h"

#include <llvm/IR/IRBuilder.h>

#include <cstddef>

#include "engines/simd/simdgroup_abi.h"
#include "engines/simd/widening.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Value;

Value* extent(llvm::IRBuilder<>& builder, Value* state, std::size_t dimension) {
  Value* place = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), state,
      offsetof(ThreadgroupState, threads_per_threadgroup) + dimension * sizeof(std::uint32_t));
  return builder.CreateLoad(builder.getInt32Ty(), place);
}

Value* thread_count(llvm::IRBuilder<>& builder, Value* state) {
  return builder.CreateMul(builder.CreateMul(extent(builder, state, 0), extent(builder, state, 1)),
                           extent(builder, state, 2));
}

llvm::Function* make_run_simdgroup(llvm::Module& module, const Simdgroups& simdgroups) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto* run =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(cpu::run_thread_name), module);
  Value *state = run->getArg(0), *first = run->getArg(1);
  builder.SetInsertPoint(BasicBlock::Create(context, "entry", run));
  Value* threads = thread_count(builder, state);
  Value* width = extent(builder, state, 0);
  Value* left = builder.CreateSub(threads, first);
  Value* in_rows =
      builder.CreateICmpEQ(builder.CreateAnd(width, builder.getInt32(simdgroup_width - 1)), builder.getInt32(0));
  in_rows = builder.CreateOr(in_rows, builder.CreateICmpEQ(width, threads));
  Value* is_whole = builder.CreateICmpUGE(left, builder.getInt32(simdgroup_width));
  const auto run_if = [&](Value* condition, llvm::Function& simdgroup) {
    auto* whole = BasicBlock::Create(context, simdgroup.getName(), run);
    auto* otherwise = BasicBlock::Create(context, "otherwise", run);
    builder.CreateCondBr(builder.CreateAnd(condition, is_whole), whole, otherwise);
    builder.SetInsertPoint(whole);
    builder.CreateCall(&simdgroup, {state, first});
    builder.CreateRetVoid();
    builder.SetInsertPoint(otherwise);
  };
  run_if(in_rows, *simdgroups.row);
  if (simdgroups.half_rows) {
    // Two rows of one slice.
    Value* even =
        builder.CreateICmpEQ(builder.CreateAnd(extent(builder, state, 1), builder.getInt32(1)), builder.getInt32(0));
    Value* one_slice = builder.CreateICmpEQ(extent(builder, state, 2), builder.getInt32(1));
    Value* is_half = builder.CreateICmpEQ(width, builder.getInt32(simdgroup_width / 2));
    run_if(builder.CreateAnd(is_half, builder.CreateOr(even, one_slice)), *simdgroups.half_rows);
  }
  Value* count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder.getInt32(simdgroup_width));
  builder.CreateCall(simdgroups.anywhere, {state, first, count});
  builder.CreateRetVoid();
  return run;
}

}  // namespace

void run_simdgroups(llvm::Module& module, const Simdgroups& simdgroups, bool has_barriers) {
  llvm::Function* run = make_run_simdgroup(module, simdgroups);
  if (has_barriers) return;
  run->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       llvm::StringRef(cpu::run_threadgroup_name), module);
  auto* start = BasicBlock::Create(context, "entry", entry);
  auto* loop = BasicBlock::Create(context, "simdgroup", entry);
  auto* end = BasicBlock::Create(context, "end", entry);
  builder.SetInsertPoint(start);
  Value* threads = thread_count(builder, entry->getArg(0));
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::PHINode* first = builder.CreatePHI(builder.getInt32Ty(), 2);
  first->addIncoming(builder.getInt32(0), start);
  builder.CreateCall(run, {entry->getArg(0), first});
  Value* next = builder.CreateAdd(first, builder.getInt32(simdgroup_width));
  first->addIncoming(next, loop);
  builder.CreateCondBr(builder.CreateICmpULT(next, threads), loop, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

}  // namespace metalloid::engines::simd
