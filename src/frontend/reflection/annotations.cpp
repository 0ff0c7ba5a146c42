#include "frontend/reflection/annotations.h"

#include <clang/AST/Expr.h>

namespace metalloid::frontend {
namespace {
constexpr llvm::StringLiteral prefix = "metalloid.";
}

const clang::AnnotateAttr* find_annotation(const clang::Decl& declaration, llvm::StringRef name) {
  for (const auto* attribute : declaration.specific_attrs<clang::AnnotateAttr>()) {
    llvm::StringRef text = attribute->getAnnotation();
    if (text.consume_front(prefix) && text == name) return attribute;
  }
  return nullptr;
}

std::vector<llvm::StringRef> annotation_names(const clang::Decl& declaration) {
  std::vector<llvm::StringRef> names;
  for (const auto* attribute : declaration.specific_attrs<clang::AnnotateAttr>()) {
    llvm::StringRef text = attribute->getAnnotation();
    if (text.consume_front(prefix)) names.push_back(text);
  }
  return names;
}

std::optional<std::uint64_t> integer_argument(const clang::ASTContext& context, const clang::AnnotateAttr& annotation,
                                              unsigned index) {
  if (index >= annotation.args_size()) return {};
  const clang::Expr* expression = annotation.args_begin()[index];
  clang::Expr::EvalResult result;
  if (expression->isValueDependent() || !expression->EvaluateAsInt(result, context)) return {};
  return result.Val.getInt().getLimitedValue();
}

std::optional<std::string> string_argument(const clang::AnnotateAttr& annotation, unsigned index) {
  if (index >= annotation.args_size()) return {};
  const clang::Expr* expression = annotation.args_begin()[index]->IgnoreParenImpCasts();
  if (const auto* constant = llvm::dyn_cast<clang::ConstantExpr>(expression)) {
    expression = constant->getSubExpr()->IgnoreParenImpCasts();
  }
  const auto* literal = llvm::dyn_cast<clang::StringLiteral>(expression);
  if (!literal) return {};
  return literal->getString().str();
}

}  // namespace metalloid::frontend
