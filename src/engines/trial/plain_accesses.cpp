// lower_plain_accesses
//
//   %m = call <2 x half> @metalloid.simdgroup_matrix.load.f16.device(ptr addrspace(1) %a, i64 %stride, i64 %x, i64 %y,
//                                                                    i1 %transposed)
// ->
//   %first = load half, ptr addrspace(1) %a[(%y + row) * %stride + %x + column]
//   %second = ... the column beside it, if it is transposed the row below
//   %m = <%first, %second>
#include "engines/trial/plain_accesses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/passes/normalise_attributes.h"

namespace metalloid::engines::trial {
namespace {

using llvm::Value;

// Of the calling lane: where in the matrix' memory its two elements are.
std::array<Value*, 2> places(llvm::IRBuilder<>& builder, llvm::CallInst& call, unsigned matrix) {
  llvm::Type* type = llvm::cast<llvm::FixedVectorType>(matrix == 0 ? call.getType() : call.getArgOperand(0)->getType())
                         ->getElementType();
  const auto operand = [&](unsigned i) { return call.getArgOperand(matrix + i); };
  Value *address = operand(0), *stride = operand(1), *x = operand(2), *y = operand(3), *transposed = operand(4);
  Value* thread = builder.CreateZExt(
      builder.CreateCall(ir::declare_operation(*call.getModule(), ir::thread_index_name)), builder.getInt64Ty());
  const auto bit = [&](unsigned which, std::uint64_t times) {
    return builder.CreateMul(builder.CreateAnd(builder.CreateLShr(thread, which), 1), builder.getInt64(times));
  };
  Value* row = builder.CreateAdd(bit(4, 4), builder.CreateAdd(bit(2, 2), bit(1, 1)));
  Value* column = builder.CreateAdd(bit(3, 4), bit(0, 2));
  std::array<Value*, 2> result{};
  for (unsigned i = 0; i < 2; ++i) {
    Value* j = builder.CreateAdd(column, builder.getInt64(i));
    Value* down = builder.CreateAdd(y, builder.CreateSelect(transposed, j, row));
    Value* across = builder.CreateAdd(x, builder.CreateSelect(transposed, row, j));
    result[i] = builder.CreateGEP(type, address, builder.CreateAdd(builder.CreateMul(down, stride), across));
  }
  return result;
}

void lower_load(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* type = llvm::cast<llvm::FixedVectorType>(call.getType())->getElementType();
  Value* matrix = llvm::PoisonValue::get(call.getType());
  for (const auto& [i, place] : llvm::enumerate(places(builder, call, 0))) {
    matrix = builder.CreateInsertElement(matrix, builder.CreateLoad(type, place), i);
  }
  call.replaceAllUsesWith(matrix);
  call.eraseFromParent();
}

void lower_store(llvm::CallInst& call) {
  llvm::IRBuilder<> builder(&call);
  for (const auto& [i, place] : llvm::enumerate(places(builder, call, 1))) {
    builder.CreateStore(builder.CreateExtractElement(call.getArgOperand(0), i), place);
  }
  call.eraseFromParent();
}

}  // namespace

bool is_plain_access(const ir::Operation& operation, const llvm::CallBase&) {
  return std::string_view(operation.whole).starts_with("simdgroup_matrix.");
}

void lower_plain_accesses(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const bool loads = function.getName().starts_with("metalloid.simdgroup_matrix.load.");
    if (!loads && !function.getName().starts_with("metalloid.simdgroup_matrix.store.")) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto& call = *llvm::cast<llvm::CallInst>(user);
      loads ? lower_load(call) : lower_store(call);
    }
  }
}

}  // namespace metalloid::engines::trial
