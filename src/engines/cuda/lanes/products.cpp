#include "engines/cuda/lanes/products.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DerivedTypes.h>

#include <string>
#include <string_view>

#include "ir/masked_operations.h"

namespace metalloid::engines::cuda {

using ir::MatrixElement;
using llvm::Value;

namespace {

constexpr llvm::StringLiteral of_halves = "metalloid_product.f16", of_bfloats = "metalloid_product.bf16",
                              of_floats = "metalloid_product.f32";

template <typename Predicate>
bool has_masked_operation(const llvm::Module& module, Predicate&& is_one) {
  for (const llvm::Function& function : module) {
    const std::string_view name = function.getName();
    if (!name.starts_with(ir::masked_prefix) || function.use_empty()) continue;
    const ir::Operation* operation =
        ir::find_operation(std::string(ir::operation_prefix) + std::string(name.substr(ir::masked_prefix.size())));
    if (operation && is_one(*operation)) return true;
  }
  return false;
}

}  // namespace

bool is_for_tensor_cores(const ir::MatrixOperation& operation) {
  return operation.action == ir::MatrixAction::multiply_accumulate_relaxed && operation.a == operation.b &&
         operation.a != MatrixElement::f32;
}

bool is_of_floats(const ir::MatrixOperation& operation) {
  const bool multiplies = operation.action == ir::MatrixAction::multiply_accumulate ||
                          operation.action == ir::MatrixAction::multiply_accumulate_relaxed;
  return multiplies && operation.a == MatrixElement::f32 && operation.b == MatrixElement::f32;
}

LaneOrder order_for(const llvm::Module& module) {
  const bool has_products = has_masked_operation(module, [](const ir::Operation& operation) {
    return operation.matrix && is_for_tensor_cores(*operation.matrix);
  });
  return has_products ? LaneOrder::of_matrices : LaneOrder::plain;
}

bool multiplies_matrices(const llvm::Module& module) {
  return has_masked_operation(module, [](const ir::Operation& operation) {
    return operation.whole.starts_with("matmul2d.") ||
           (operation.matrix && (operation.matrix->action == ir::MatrixAction::multiply_accumulate ||
                                 operation.matrix->action == ir::MatrixAction::multiply_accumulate_relaxed));
  });
}

Value* create_product(llvm::IRBuilderBase& builder, MatrixElement element, Value* a, Value* b, Value* c) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  const llvm::StringRef name = element == MatrixElement::f16   ? of_halves
                               : element == MatrixElement::f32 ? of_floats
                                                               : of_bfloats;
  auto callee = module.getOrInsertFunction(name, c->getType(), a->getType(), b->getType(), c->getType());
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::none());
  for (const auto attribute : {llvm::Attribute::Convergent, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
                               llvm::Attribute::NoCallback}) {
    function->addFnAttr(attribute);
  }
  return builder.CreateCall(callee, {a, b, c});
}

std::optional<MatrixElement> as_product(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee) return std::nullopt;
  if (callee->getName() == of_halves) return MatrixElement::f16;
  if (callee->getName() == of_bfloats) return MatrixElement::bf16;
  if (callee->getName() == of_floats) return MatrixElement::f32;
  return std::nullopt;
}

}  // namespace metalloid::engines::cuda
