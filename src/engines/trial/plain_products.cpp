// lower_plain_products
//
//   call void @metalloid.matmul2d.simdgroup.device.constant.held(...)
// ->
//   for each element of the destination that is this thread's, in row i and column j:
//     sum = accumulates ? float(destination[i][j]) : 0
//     for k: sum = fma(float(left[i][k]), float(right[k][j]), sum)
//     destination[i][j] = sum
//
// Elements of a destination in memory are dealt out to the threads of the scope one by one, which is not what the
// library does. Which ones a thread holds of others, operations.def says.
#include "engines/trial/plain_products.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "ir/passes/normalise_attributes.h"
#include "ir/tiles.h"

namespace metalloid::engines::trial {
namespace {

using ir::Tile;
using ir::TileElement;
using llvm::Value;

struct ElementKind {
  unsigned bits;
  bool is_integer, is_signed;
};

ElementKind kind_of(TileElement element) {
  switch (element) {
    case TileElement::f16:
    case TileElement::bf16: return {16, false, true};
    case TileElement::f32: return {32, false, true};
    case TileElement::i4: return {4, true, true};
    case TileElement::u4: return {4, true, false};
    case TileElement::i8: return {8, true, true};
    case TileElement::u8: return {8, true, false};
    case TileElement::i16: return {16, true, true};
    case TileElement::u16: return {16, true, false};
    case TileElement::i32: return {32, true, true};
    case TileElement::u32: return {32, true, false};
    case TileElement::i64: return {64, true, true};
    case TileElement::u64: return {64, true, false};
  }
  return {};
}

// How simdgroups divide a tile.
struct Blocks {
  Blocks(std::uint64_t rows, std::uint64_t columns, std::uint64_t fragment, std::uint64_t simdgroups) {
    const auto divided = [](std::uint64_t count, std::uint64_t by) { return (count + by - 1) / by; };
    for (std::uint64_t high = 1; high <= simdgroups; ++high) {
      if (simdgroups % high != 0) continue;
      const std::uint64_t d = divided(divided(rows, fragment), high);
      const std::uint64_t a = divided(divided(columns, fragment), simdgroups / high);
      const bool is_first = down == 0;
      if (!is_first && std::pair(d * a, d + a) >= std::pair(down * across, down + across)) continue;
      down = d;
      across = a;
      blocks_across = simdgroups / high;
    }
  }
  std::uint64_t down = 0, across = 0;  // fragments of a block
  std::uint64_t blocks_across = 1;
};

// Writes the code of one call into a function of its own.
class ProductWriter {
 public:
  ProductWriter(const ir::Matmul2d& product, llvm::Function& function)
      : product_(product), function_(function), builder_(function.getContext()) {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(builder_.getContext(), "entry", &function));
    integral_ = kind_of(product.destination.element).is_integer;
    sum_ = integral_ ? builder_.getInt32Ty() : builder_.getFloatTy();
  }

  void write() {
    llvm::Module& module = *function_.getParent();
    if (product_.simdgroups > 0) {
      constexpr auto order = static_cast<std::uint32_t>(ir::MemoryOrder::relaxed);
      constexpr auto scope = static_cast<std::uint32_t>(ir::MemoryScope::simdgroup);
      auto* meeting = builder_.CreateCall(ir::declare_operation(module, ir::simdgroup_barrier_name),
                                          {number32(0), number32(order), number32(scope)});
      meeting->setConvergent();
      thread_ = builder_.CreateZExt(builder_.CreateCall(ir::declare_operation(module, ir::thread_index_name)),
                                    builder_.getInt64Ty());
    } else {
      thread_ = number(0);
    }
    Value *m = wide(product_.m), *n = wide(product_.n);
    if (product_.destination.is_held && product_.simdgroups > 0) {
      write_held(m, n);
    } else {
      const unsigned threads = std::max(1u, product_.simdgroups * 32);
      Value* first = product_.simdgroups == 1 ? builder_.CreateAnd(thread_, 31) : thread_;
      loop(first, builder_.CreateMul(m, n), threads, [&](Value* i) {
        Value *row = builder_.CreateUDiv(i, n), *column = builder_.CreateURem(i, n);
        Value* place = product_.destination.is_held ? i : place_of(product_.destination, row, column);
        compute(row, column, place);
      });
    }
    builder_.CreateRetVoid();
  }

 private:
  llvm::ConstantInt* number(std::uint64_t value) { return builder_.getInt64(value); }
  llvm::ConstantInt* number32(std::uint32_t value) { return builder_.getInt32(value); }
  Value* wide(Value* value) { return builder_.CreateSExt(value, builder_.getInt64Ty()); }

  template <typename Body>
  void loop(Value* begin, Value* end, std::uint64_t step, Body body) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(builder_.getContext(), "head", &function_);
    auto* inside = llvm::BasicBlock::Create(builder_.getContext(), "inside", &function_);
    auto* behind = llvm::BasicBlock::Create(builder_.getContext(), "behind", &function_);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* i = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    builder_.CreateCondBr(builder_.CreateICmpSLT(i, end), inside, behind);
    builder_.SetInsertPoint(inside);
    body(i);
    i->addIncoming(builder_.CreateAdd(i, number(step)), builder_.GetInsertBlock());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(behind);
  }

  template <typename Body>
  void only_if(Value* condition, Body body) {
    auto* inside = llvm::BasicBlock::Create(builder_.getContext(), "only", &function_);
    auto* behind = llvm::BasicBlock::Create(builder_.getContext(), "behind", &function_);
    builder_.CreateCondBr(condition, inside, behind);
    builder_.SetInsertPoint(inside);
    body();
    builder_.CreateBr(behind);
    builder_.SetInsertPoint(behind);
  }

  llvm::AllocaInst* variable(Value* value) {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    auto* made = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(value->getType());
    builder_.CreateStore(value, made);
    return made;
  }

  // The elements that the calling thread holds, one after the other.
  void write_held(Value* m, Value* n) {
    const auto size = [](const Value* value) { return llvm::cast<llvm::ConstantInt>(value)->getZExtValue(); };
    const Tile& tile = product_.destination;
    const std::uint64_t fragment = size(tile.across), width = fragment / 4, each = fragment * fragment / 32;
    const Blocks blocks(size(tile.rows), size(tile.columns), fragment, size(tile.down));
    const auto bit = [&](unsigned which) { return builder_.CreateAnd(builder_.CreateLShr(thread_, which), 1); };
    const auto add_up = [&](std::initializer_list<std::pair<Value*, std::uint64_t>> terms) {
      Value* sum = number(0);
      for (const auto& [value, times] : terms) sum = builder_.CreateAdd(sum, builder_.CreateMul(value, number(times)));
      return sum;
    };
    Value* simdgroup = size(tile.down) == 1 ? number(0) : builder_.CreateLShr(thread_, 5);
    Value* block_down = builder_.CreateUDiv(simdgroup, number(blocks.blocks_across));
    Value* block_across = builder_.CreateURem(simdgroup, number(blocks.blocks_across));
    loop(number(0), number(blocks.down * blocks.across * each), 1, [&](Value* i) {
      Value *in = builder_.CreateUDiv(i, number(each)), *element = builder_.CreateURem(i, number(each));
      Value* down = builder_.CreateUDiv(in, number(blocks.across));
      Value* across = builder_.CreateURem(in, number(blocks.across));
      Value* row = add_up({{block_down, blocks.down * fragment},
                           {down, fragment},
                           {builder_.CreateUDiv(element, number(width)), 8},
                           {bit(4), 4},
                           {bit(2), 2},
                           {bit(1), 1}});
      Value* column = add_up({{block_across, blocks.across * fragment},
                              {across, fragment},
                              {bit(3), 2 * width},
                              {bit(0), width},
                              {builder_.CreateURem(element, number(width)), 1}});
      only_if(builder_.CreateAnd(builder_.CreateICmpSLT(row, m), builder_.CreateICmpSLT(column, n)),
              [&] { compute(row, column, i); });
    });
  }

  void compute(Value* row, Value* column, Value* place) {
    const Tile& destination = product_.destination;
    Value* is_there = destination.is_held ? builder_.getTrue() : contains(destination, row, column);
    llvm::AllocaInst* sum = variable(llvm::Constant::getNullValue(sum_));
    if (product_.accumulates) {
      only_if(is_there, [&] { builder_.CreateStore(load(destination, place), sum); });
    }
    loop(number(0), wide(product_.k), 1, [&](Value* k) {
      Value* a = element(product_.left, product_.left_is_transposed, row, k);
      Value* b = element(product_.right, product_.right_is_transposed, k, column);
      Value* before = builder_.CreateLoad(sum_, sum);
      builder_.CreateStore(integral_ ? builder_.CreateAdd(builder_.CreateMul(a, b), before)
                                     : builder_.CreateIntrinsic(llvm::Intrinsic::fma, {sum_}, {a, b, before}),
                           sum);
    });
    only_if(is_there, [&] { store(destination, place, builder_.CreateLoad(sum_, sum)); });
  }

  Value* contains(const Tile& tile, Value* row, Value* column) {
    return builder_.CreateAnd(builder_.CreateICmpSLT(row, tile.rows), builder_.CreateICmpSLT(column, tile.columns));
  }
  Value* place_of(const Tile& tile, Value* row, Value* column) {
    Value* distance = builder_.CreateAdd(builder_.CreateMul(row, tile.down), builder_.CreateMul(column, tile.across));
    return builder_.CreateAdd(distance, tile.first);
  }

  // Zero outside.
  Value* element(const Tile& tile, bool is_transposed, Value* row, Value* column) {
    if (is_transposed) std::swap(row, column);
    llvm::AllocaInst* result = variable(llvm::Constant::getNullValue(sum_));
    only_if(contains(tile, row, column),
            [&] { builder_.CreateStore(load(tile, place_of(tile, row, column)), result); });
    return builder_.CreateLoad(sum_, result);
  }

  Value* load(const Tile& tile, Value* place) {
    const ElementKind kind = kind_of(tile.element);
    Value* value = nullptr;
    if (kind.bits == 4) {
      Value* byte = builder_.CreateLoad(builder_.getInt8Ty(), address(tile, builder_.CreateAShr(place, 1), 8));
      Value* shift = builder_.CreateTrunc(builder_.CreateShl(builder_.CreateAnd(place, 1), 2), builder_.getInt8Ty());
      value = builder_.CreateTrunc(builder_.CreateLShr(byte, shift), builder_.getIntNTy(4));
    } else {
      value = builder_.CreateLoad(builder_.getIntNTy(kind.bits), address(tile, place, kind.bits));
    }
    if (kind.is_integer) {
      if (integral_) return builder_.CreateIntCast(value, sum_, kind.is_signed);
      return kind.is_signed ? builder_.CreateSIToFP(value, sum_) : builder_.CreateUIToFP(value, sum_);
    }
    if (tile.element == TileElement::bf16) {
      value = builder_.CreateShl(builder_.CreateZExt(value, builder_.getInt32Ty()), 16);
    }
    value = tile.element == TileElement::f16
                ? builder_.CreateFPExt(builder_.CreateBitCast(value, builder_.getHalfTy()), builder_.getFloatTy())
                : builder_.CreateBitCast(value, builder_.getFloatTy());
    if (!integral_) return value;
    return builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {sum_, value->getType()}, {value});
  }

  void store(const Tile& tile, Value* place, Value* sum) {
    const ElementKind kind = kind_of(tile.element);
    Value* value = sum;
    if (kind.is_integer) {
      value = builder_.CreateIntCast(sum, builder_.getIntNTy(kind.bits), /*isSigned=*/true);
    } else if (tile.element == TileElement::f16) {
      value = builder_.CreateFPTrunc(sum, builder_.getHalfTy());
    } else if (tile.element == TileElement::bf16) {
      value = upper_half(sum);
    }
    builder_.CreateStore(value, address(tile, place, kind.bits));
  }

  // To the nearest, ties to even.
  Value* upper_half(Value* value) {
    Value* bits = builder_.CreateBitCast(value, builder_.getInt32Ty());
    Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, 16), 1);
    Value* rounded = builder_.CreateAdd(builder_.CreateAdd(bits, number32(0x7fff)), odd);
    Value* kept = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), number32(0x7fc00000), rounded);
    return builder_.CreateTrunc(builder_.CreateLShr(kept, 16), builder_.getInt16Ty());
  }

  Value* address(const Tile& tile, Value* place, unsigned bits) {
    return builder_.CreateGEP(builder_.getIntNTy(bits), tile.address, place);
  }

  const ir::Matmul2d product_;
  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  bool integral_;
  llvm::Type* sum_;
  Value* thread_ = nullptr;  // within its threadgroup
};

// What the operation is given, as the function's parameters; what is constant stays.
ir::Matmul2d inside(const llvm::CallBase& call, llvm::Function& function) {
  ir::Matmul2d product = ir::read_matmul2d(call);
  const auto follow = [&](Value*& value) {
    if (llvm::isa<llvm::Constant>(value)) return;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      if (call.getArgOperand(i) != value) continue;
      value = function.getArg(i);
      return;
    }
  };
  for (Tile* tile : {&product.left, &product.right, &product.destination}) {
    for (Value** value : {&tile->address, &tile->columns, &tile->rows, &tile->across, &tile->down, &tile->first}) {
      follow(*value);
    }
  }
  for (Value** value : {&product.m, &product.n, &product.k}) follow(*value);
  return product;
}

}  // namespace

bool is_plain_product(const ir::Operation& operation, const llvm::CallBase& call) {
  if (!std::string_view(operation.whole).starts_with("matmul2d.")) return false;
  const ir::Matmul2d product = ir::read_matmul2d(call);
  return !product.left.is_held && !product.right.is_held && kind_of(product.destination.element).bits >= 8;
}

void lower_plain_products(llvm::Module& module) {
  llvm::SmallVector<llvm::CallInst*, 8> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && callee->getName().starts_with("metalloid.matmul2d.")) calls.push_back(call);
    }
  }
  for (llvm::CallInst* call : calls) {
    auto* made = llvm::Function::Create(call->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                        "metal.plain_product", module);
    ProductWriter(inside(*call, *made), *made).write();
    call->setCalledFunction(made);
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info, /*MergeAttributes=*/false);
    made->eraseFromParent();
  }
}

}  // namespace metalloid::engines::trial
