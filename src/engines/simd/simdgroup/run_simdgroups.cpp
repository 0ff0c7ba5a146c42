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

  GroupShape(llvm::IRBuilder<>& builder, Value* state, unsigned width) {
    for (std::size_t d = 0; d < 3; ++d) {
      Value* place = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), state, offsetof(ThreadgroupState, threads_per_threadgroup) + d * sizeof(std::uint32_t));
      extents[d] = builder.CreateLoad(builder.getInt32Ty(), place);
    }
    threads = builder.CreateMul(builder.CreateMul(extents[0], extents[1]), extents[2]);
    Value* part_of_row = builder.CreateAnd(extents[0], builder.getInt32(width - 1));
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

// The loop over the simdgroups of a threadgroup whose threads are in rows.
struct RowLoop {
  using Place = std::array<Value*, 4>;  // of a simdgroup: index, x, y, z

  llvm::IRBuilder<>& builder;
  const GroupShape& shape;
  const Simdgroups& simdgroups;
  Value *state, *in_rows;
  BasicBlock *start, *rows, *others;
  BasicBlock* latch = nullptr;
  Place next{};
  llvm::SmallVector<llvm::CallInst*, 2> calls = {};

  void run() {
    builder.SetInsertPoint(rows);
    Place now{};
    for (Value*& value : now) value = builder.CreatePHI(builder.getInt32Ty(), 2);
    next = behind(now);
    if (simdgroups.pair) {
      run_pair(now);
    } else {
      call(*simdgroups.row, {state, now[0], now[1], now[2], now[3]});
    }
    latch = builder.GetInsertBlock();
    for (unsigned i = 0; i < now.size(); ++i) {
      llvm::cast<llvm::PHINode>(now[i])->addIncoming(builder.getInt32(0), start);
      llvm::cast<llvm::PHINode>(now[i])->addIncoming(next[i], latch);
    }
    builder.CreateCondBr(builder.CreateICmpULT(next[0], in_rows), rows, others);
  }

  Place behind(const Place& place) const {
    Value* step = builder.getInt32(simdgroups.width);
    Place result = {builder.CreateAdd(place[0], step)};
    for (unsigned d = 0; d < 3; ++d) {
      Value* stepped = builder.CreateAdd(place[d + 1], step);
      Value* ends = builder.CreateICmpEQ(stepped, shape.extents[d]);
      result[d + 1] = builder.CreateSelect(ends, builder.getInt32(0), stepped);
      step = builder.CreateAnd(builder.CreateZExt(ends, builder.getInt32Ty()), 1);
    }
    return result;
  }

  void run_pair(const Place& now) {
    llvm::Function* entry = rows->getParent();
    const auto block = [&](const char* name) { return BasicBlock::Create(builder.getContext(), name, entry, others); };
    BasicBlock *two = block("two"), *one = block("one"), *end = block("row.end");
    llvm::IRBuilder<> first(&entry->getEntryBlock(), entry->getEntryBlock().begin());
    Value* fails = first.CreateAlloca(first.getInt8Ty());
    builder.CreateCondBr(builder.CreateICmpULT(next[0], in_rows), two, one);
    builder.SetInsertPoint(two);
    builder.CreateStore(builder.getInt8(0), fails);
    llvm::SmallVector<Value*, 10> arguments = {state};
    arguments.append(now.begin(), now.end());
    arguments.append(next.begin(), next.end());
    arguments.push_back(fails);
    call(*simdgroups.pair, arguments);
    const Place further = behind(next);
    builder.CreateCondBr(builder.CreateIsNotNull(builder.CreateLoad(builder.getInt8Ty(), fails)), one, end);
    builder.SetInsertPoint(one);
    call(*simdgroups.row, {state, now[0], now[1], now[2], now[3]});
    builder.CreateBr(end);
    builder.SetInsertPoint(end);
    for (unsigned i = 0; i < now.size(); ++i) {
      llvm::PHINode* place = builder.CreatePHI(builder.getInt32Ty(), 2);
      place->addIncoming(further[i], two);
      place->addIncoming(next[i], one);
      next[i] = place;
    }
  }

  void call(llvm::Function& simdgroup, llvm::ArrayRef<Value*> arguments) {
    calls.push_back(builder.CreateCall(&simdgroup, arguments));
    llvm::DISubprogram* own = simdgroup.getSubprogram() ? rows->getParent()->getSubprogram() : nullptr;
    if (own) calls.back()->setDebugLoc(llvm::DILocation::get(builder.getContext(), 0, 0, own));
  }
};

llvm::Function* make_run_simdgroup(llvm::Module& module, const Simdgroups& simdgroups, bool runs_rows) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), builder.getInt32Ty()}, false);
  auto* run =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(cpu::run_thread_name), module);
  Value *state = run->getArg(0), *first = run->getArg(1);
  builder.SetInsertPoint(BasicBlock::Create(context, "entry", run));
  const GroupShape shape(builder, state, simdgroups.width);
  if (runs_rows) run_alone(builder, shape, simdgroups, state, first);
  Value* left = builder.CreateSub(shape.threads, first);
  Value* is_whole = builder.CreateICmpUGE(left, builder.getInt32(simdgroups.width));
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
    Value* is_half = builder.CreateICmpEQ(shape.extents[0], builder.getInt32(simdgroups.width / 2));
    run_if(builder.CreateAnd(is_half, builder.CreateOr(even, one_slice)), *simdgroups.half_rows);
  }
  if (simdgroups.column) {
    Value* is_thin = builder.CreateICmpEQ(shape.extents[0], builder.getInt32(1));
    Value* part = builder.CreateAnd(shape.extents[1], builder.getInt32(simdgroups.width - 1));
    run_if(builder.CreateAnd(is_thin, builder.CreateICmpEQ(part, builder.getInt32(0))), *simdgroups.column);
  }
  if (!simdgroups.anywhere) {
    builder.CreateIntrinsic(builder.getVoidTy(), llvm::Intrinsic::trap, {});
    builder.CreateRetVoid();
    return run;
  }
  Value* count = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, builder.getInt32(simdgroups.width));
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
  Value *none = builder.getInt32(0), *width = builder.getInt32(simdgroups.width);
  builder.SetInsertPoint(start);
  const GroupShape shape(builder, state, simdgroups.width);
  run_alone(builder, shape, simdgroups, state, none);
  start = builder.GetInsertBlock();
  Value* in_rows = builder.CreateAnd(shape.threads, ~std::uint64_t{simdgroups.width - 1});
  in_rows = builder.CreateSelect(shape.in_rows, in_rows, none);
  builder.CreateCondBr(builder.CreateICmpNE(in_rows, none), rows, others);

  RowLoop loop{builder, shape, simdgroups, state, in_rows, start, rows, others};
  loop.run();

  builder.SetInsertPoint(others);
  llvm::PHINode* first = builder.CreatePHI(builder.getInt32Ty(), 3);
  first->addIncoming(none, start);
  first->addIncoming(loop.next[0], loop.latch);
  builder.CreateCondBr(builder.CreateICmpULT(first, shape.threads), other, end);
  builder.SetInsertPoint(other);
  builder.CreateCall(run, {state, first});
  first->addIncoming(builder.CreateAdd(first, width), other);
  builder.CreateBr(others);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
  for (llvm::CallInst* call : loop.calls) {
    llvm::Function* inlined = call->getCalledFunction();
    llvm::InlineFunctionInfo information;
    llvm::InlineFunction(*call, information);
    if (inlined->use_empty()) inlined->eraseFromParent();
  }
  return entry;
}

}  // namespace metalloid::engines::simd
