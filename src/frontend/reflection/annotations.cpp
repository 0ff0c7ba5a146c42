#include "frontend/reflection/annotations.h"

#include <limits>

#include <clang/AST/Expr.h>
#include <clang/Basic/Diagnostic.h>

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

std::optional<std::int64_t> integer_argument(const clang::ASTContext& context, const clang::AnnotateAttr& annotation,
                                             unsigned index) {
  if (index >= annotation.args_size()) return {};
  const clang::Expr* expression = annotation.args_begin()[index];
  clang::Expr::EvalResult result;
  if (expression->isValueDependent() || !expression->EvaluateAsInt(result, context)) return {};
  const llvm::APSInt& value = result.Val.getInt();
  if (value.isRepresentableByInt64()) return value.getExtValue();
  return value.isNegative() ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

std::optional<std::uint32_t> index_argument(const clang::ASTContext& context, const clang::NamedDecl& declaration,
                                            const clang::AnnotateAttr& annotation, std::uint32_t most) {
  clang::DiagnosticsEngine& diagnostics = context.getDiagnostics();
  llvm::StringRef attribute = annotation.getAnnotation();
  attribute.consume_front(prefix);
  const auto error = [&]<unsigned N>(const char (&text)[N]) {
    return diagnostics.Report(declaration.getLocation(),
                              diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, text))
           << attribute;
  };
  if (annotation.args_size() != 1) {
    error("'%0' attribute takes one argument");
    return {};
  }
  const auto index = integer_argument(context, annotation);
  if (!index) {
    error("'%0' attribute requires an integer constant");
    return {};
  }
  if (*index < 0 || *index > most) {
    error("'%0' attribute parameter is out of bounds: must be between 0 and %1") << most;
    return {};
  }
  return static_cast<std::uint32_t>(*index);
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
