#include "engines/simd/simdgroup/run_simdgroups.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/simd/run/simdgroup_abi.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// What is the same for all simdgroups of a threadgroup.
struct GroupShape {
  std::array<Value*, 3> extents;
  Value *threads, *in_rows;

  GroupShape(llvm::IRBuilder<>& builder, Value* state) {
    for (std::size_t d = 0; d < 3; ++d) {
      Value* place = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), state, offsetof(ThreadgroupState, threads_per_threadgroup) + d * sizeof(std::uint32_t));
      extents[d] = builder.CreateLoad(builder.getInt32Ty(), place);
    }
    threads = builder.CreateMul(builder.CreateMul(extents[0], extents[1]), extents[2]);
    Value* part_of_row = builder.CreateAnd(extents[0], builder.getInt32(simdgroup_width - 1));
    in_rows = builder.CreateOr(builder.CreateICmpEQ(part_of_row, builder.getInt32(0)),
                               builder.CreateICmpEQ(extents[0], threads));
  }
};

// A threadgroup of one thread; the builder goes on with the others.
void run_alone(llvm::IRBuilder<>& builder, const GroupShape& shape, const Simdgroups& simdgroups, Value* state,
               Value* first) {
  if (!simdgroups.alone) return;
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  auto* alone = BasicBlock::Create(builder.getContext(), "alone", function);
  auto* more = BasicBlock::Create(builder.getContext(), "more", function);
  builder.CreateCondBr(builder.CreateICmpEQ(shape.threads, builder.getInt32(1)), alone, more);
  builder.SetInsertPoint(alone);
  llvm::CallInst* call = builder.CreateCall(simdgroups.alone, {state, first});
  if (llvm::DISubprogram* own = function->getSubprogram()) {
    call->setDebugLoc(llvm::DILocation::get(builder.getContext(), 0, 0, own));
  }
  builder.CreateRetVoid();
  builder.SetInsertPoint(more);
}

llvm::Function* make_run_simdgroup(llvm::Module& module, const Simdgroups& simdgroups, bool runs_rows) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto* run =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(cpu::run_thread_name), module);
  Value *state = run->getArg(0), *first = run->getArg(1);
  builder.SetInsertPoint(BasicBlock::Create(context, "entry", run));
  const GroupShape shape(builder, state);
  if (runs_rows) run_alone(builder, shape, simdgroups, state, first);
  Value* left = builder.CreateSub(shape.threads, first);
  Value* is_whole = builder.CreateICmpUGE(left, builder.getInt32(simdgroup_width));
  const auto run_if = [&](Value* condition, llvm::Function& simdgroup) {
    auto* whole = BasicBlock::Create(context, simdgroup.getName(), run);
    auto* otherwise = BasicBlock::Create(context, "otherwise", run);
    builder.CreateCondBr(builder.CreateAnd(condition, is_whole), whole, otherwise);
    builder.SetInsertPoint(whole);
    llvm::SmallVector<Value*, 5> arguments = {state, first};
    if (simdgroup.arg_size() > arguments.size()) {
      Value* row = builder.CreateUDiv(first, shape.extents[0]);
      arguments.append({builder.CreateURem(first, shape.extents[0]), builder.CreateURem(row, shape.extents[1]),
                        builder.CreateUDiv(row, shape.extents[1])});
    }
    builder.CreateCall(&simdgroup, arguments);
    builder.CreateRetVoid();
    builder.SetInsertPoint(otherwise);
  };
  if (runs_rows) run_if(shape.in_rows, *simdgroups.row);
  if (simdgroups.half_rows) {
    // Two rows of one slice.
    Value* even = builder.CreateICmpEQ(builder.CreateAnd(shape.extents[1], builder.getInt32(1)), builder.getInt32(0));
    Value* one_slice = builder.CreateICmpEQ(shape.extents[2], builder.getInt32(1));
    Value* is_half = builder.CreateICmpEQ(shape.extents[0], builder.getInt32(simdgroup_width / 2));
    run_if(builder.CreateAnd(is_half, builder.CreateOr(even, one_slice)), *simdgroups.half_rows);
  }
  if (simdgroups.column) {
    Value* is_thin = builder.CreateICmpEQ(shape.extents[0], builder.getInt32(1));
    Value* part = builder.CreateAnd(shape.extents[1], builder.getInt32(simdgroup_width - 1));
    run_if(builder.CreateAnd(is_thin, builder.CreateICmpEQ(part, builder.getInt32(0))), *simdgroups.column);
  }
  if (!simdgroups.anywhere) {
    builder.CreateIntrinsic(builder.getVoidTy(), llvm::Intrinsic::trap, {});
    builder.CreateRetVoid();
    return run;
  }
  Value* count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder.getInt32(simdgroup_width));
  builder.CreateCall(simdgroups.anywhere, {state, first, count});
  builder.CreateRetVoid();
  return run;
}

}  // namespace

llvm::Function* run_simdgroups(llvm::Module& module, const Simdgroups& simdgroups, bool has_barriers) {
  llvm::Function* run = make_run_simdgroup(module, simdgroups, /*runs_rows=*/has_barriers);
  if (has_barriers) return run;
  run->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                       llvm::StringRef(cpu::run_threadgroup_name), module);
  entry->setAttributes(simdgroups.row->getAttributes());
  entry->setSubprogram(simdgroups.row->getSubprogram());  // of which its code says that it is
  simdgroups.row->setSubprogram(nullptr);
  const auto block = [&](const char* name) { return BasicBlock::Create(context, name, entry); };
  BasicBlock *start = block("entry"), *rows = block("rows"), *others = block("others"), *other = block("other"),
             *end = block("end");
  Value* state = entry->getArg(0);
  Value *none = builder.getInt32(0), *width = builder.getInt32(simdgroup_width);
  builder.SetInsertPoint(start);
  const GroupShape shape(builder, state);
  run_alone(builder, shape, simdgroups, state, none);
  start = builder.GetInsertBlock();
  Value* in_rows = builder.CreateAnd(shape.threads, ~std::uint64_t{simdgroup_width - 1});
  in_rows = builder.CreateSelect(shape.in_rows, in_rows, none);
  builder.CreateCondBr(builder.CreateICmpNE(in_rows, none), rows, others);

  builder.SetInsertPoint(rows);
  std::array<llvm::PHINode*, 4> now{};  // index, x, y, z
  for (llvm::PHINode*& value : now) (value = builder.CreatePHI(builder.getInt32Ty(), 2))->addIncoming(none, start);
  llvm::CallInst* row = builder.CreateCall(simdgroups.row, {state, now[0], now[1], now[2], now[3]});
  std::array<Value*, 4> next{};
  next[0] = builder.CreateAdd(now[0], width);
  Value* step = width;
  for (unsigned d = 0; d < 3; ++d) {
    Value* stepped = builder.CreateAdd(now[d + 1], step);
    Value* ends = builder.CreateICmpEQ(stepped, shape.extents[d]);
    next[d + 1] = builder.CreateSelect(ends, none, stepped);
    step = builder.CreateAnd(builder.CreateZExt(ends, builder.getInt32Ty()), 1);
  }
  for (unsigned i = 0; i < now.size(); ++i) now[i]->addIncoming(next[i], rows);
  builder.CreateCondBr(builder.CreateICmpULT(next[0], in_rows), rows, others);

  builder.SetInsertPoint(others);
  llvm::PHINode* first = builder.CreatePHI(builder.getInt32Ty(), 3);
  first->addIncoming(none, start);
  first->addIncoming(next[0], rows);
  builder.CreateCondBr(builder.CreateICmpULT(first, shape.threads), other, end);
  builder.SetInsertPoint(other);
  builder.CreateCall(run, {state, first});
  first->addIncoming(builder.CreateAdd(first, width), other);
  builder.CreateBr(others);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  llvm::Function* inlined = simdgroups.row;
  llvm::InlineFunctionInfo information;
  llvm::InlineFunction(*row, information);
  if (inlined->use_empty()) inlined->eraseFromParent();
  return entry;
}

}  // namespace metalloid::engines::simd
