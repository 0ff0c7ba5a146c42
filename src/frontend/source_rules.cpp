#include "frontend/source_rules.h"

#include <cstdint>
#include <limits>
#include <set>

#include <clang/AST/RecursiveASTVisitor.h>

#include "frontend/files/library_places.h"
#include "frontend/reflection/annotations.h"
#include "frontend/reflection/kernel_arguments.h"

namespace metalloid::frontend {
namespace {

using namespace clang;

bool is_kernel(const FunctionDecl& function) {
  if (find_annotation(function, "kernel")) return true;
  // The word may stand at an instantiation only.
  const FunctionTemplateDecl* pattern = function.getDescribedFunctionTemplate();
  if (!pattern) return false;
  for (const FunctionDecl* specialisation : pattern->specializations()) {
    if (find_annotation(*specialisation, "kernel")) return true;
  }
  return false;
}

// The space that a cast goes from or to, or Default where it is unknown or generic.
LangAS pointee_space(QualType type) {
  if (type->isDependentType()) return LangAS::Default;
  const QualType pointee = type->getPointeeType();
  return pointee.isNull() ? LangAS::Default : pointee.getAddressSpace();
}

class SourceRules : public RecursiveASTVisitor<SourceRules> {
 public:
  SourceRules(Session& session, LanguageVersion language)
      : session_(session), diagnostics_(session.context().getDiagnostics()), language_(language) {}

  bool TraverseFunctionDecl(FunctionDecl* function) {
    return in_function(*function, [&] { return RecursiveASTVisitor::TraverseFunctionDecl(function); });
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl* method) {
    return in_function(*method, [&] { return RecursiveASTVisitor::TraverseCXXMethodDecl(method); });
  }

  // Arguments of kernels have rules of their own (kernel_arguments.cpp).
  bool TraverseParmVarDecl(ParmVarDecl* parameter) {
    const auto* function = llvm::dyn_cast<FunctionDecl>(parameter->getDeclContext());
    if (function && is_kernel(*function)) return true;
    return RecursiveASTVisitor::TraverseParmVarDecl(parameter);
  }

  bool VisitPointerTypeLoc(PointerTypeLoc type) {
    if (lacks_space(type.getStarLoc(), type.getPointeeLoc())) {
      error(type.getStarLoc(), "pointer type must have explicit address space qualifier");
    }
    return true;
  }
  bool VisitReferenceTypeLoc(ReferenceTypeLoc type) {
    const auto right = type.getAs<RValueReferenceTypeLoc>();
    const SourceLocation place = right ? right.getAmpAmpLoc() : type.castAs<LValueReferenceTypeLoc>().getAmpLoc();
    if (lacks_space(place, type.getPointeeLoc())) {
      error(place, "reference type must have explicit address space qualifier");
    }
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) {
    if (variable->isInvalidDecl() || llvm::isa<ParmVarDecl>(variable)) return true;
    const QualType type = variable->getType();
    const LangAS space = type.getAddressSpace();
    if (variable->isStaticLocal() && space == LangAS::Default && !type->isDependentType()) {
      error(variable->getLocation(), "static local variable must reside in constant address space");
    }
    // Words that name a space of memory, where a thread of no kernel could reach it.
    const bool is_at_program_scope = variable->isFileVarDecl() && !is_program_argument(*variable);
    if ((is_at_program_scope && (space == LangAS::opencl_local || space == LangAS::opencl_global)) ||
        (variable->hasGlobalStorage() && !is_program_argument(*variable) && space == LangAS::opencl_private)) {
      error(variable->getLocation(), "program scope variable must reside in constant address space");
    }
    if (variable->isStaticLocal() && space == LangAS::opencl_global) {
      error(variable->getLocation(), "static local variable must reside in constant address space");
    }
    if (variable->isStaticLocal() && space == LangAS::opencl_local && function_ && !is_kernel(*function_)) {
      error(variable->getLocation(),
            "variables in the threadgroup address space cannot be declared in a non-qualified function");
    }
    if (type->isVariablyModifiedType()) {
      error(variable->getLocation(), "variable length arrays are not supported in Metal");
    }
    return true;
  }

  bool VisitFieldDecl(FieldDecl* field) {
    check_id(*field);
    return true;
  }
  bool VisitClassTemplateDecl(ClassTemplateDecl* pattern) {
    for (const CXXRecordDecl* specialisation : pattern->specializations()) check_ids(*specialisation);
    return true;
  }

  bool VisitLambdaExpr(LambdaExpr* lambda) {
    if (language_ < LanguageVersion{3, 2}) {
      error(lambda->getBeginLoc(), "lambda expressions are not supported in Metal before version 3.2");
    }
    return true;
  }

  bool VisitExplicitCastExpr(ExplicitCastExpr* cast) {
    const QualType from = cast->getSubExprAsWritten()->getType();
    const QualType to = cast->getTypeAsWritten();
    if (from->isDependentType() || !to->isPointerType()) return true;
    if (to->isFunctionPointerType() && !from->isFunctionType() && !from->isFunctionPointerType() &&
        !from->isNullPtrType() && !from->isMemberFunctionPointerType()) {
      error(cast->getBeginLoc(), "a pointer to a function cannot be made from %0 in Metal") << from;
      return true;
    }
    const LangAS from_space = from->isArrayType() ? from.getAddressSpace() : pointee_space(from);
    const LangAS to_space = pointee_space(to);
    if (from_space == LangAS::Default || to_space == LangAS::Default || from_space == to_space) return true;
    error(cast->getBeginLoc(), "%0 from %1 to %2 converts between mismatching address spaces")
        << (llvm::isa<CStyleCastExpr>(cast) ? "C-style cast" : "cast") << from << to;
    return true;
  }

  bool VisitImaginaryLiteral(ImaginaryLiteral* literal) {
    error(literal->getBeginLoc(), "complex numbers are not supported in Metal");
    return true;
  }
  bool VisitIndirectGotoStmt(IndirectGotoStmt* statement) {
    error(statement->getBeginLoc(), "'goto' is not supported in Metal");
    return true;
  }
  bool VisitAddrLabelExpr(AddrLabelExpr* label) {
    error(label->getBeginLoc(), "labels have no address in Metal");
    return true;
  }
  bool VisitVAArgExpr(VAArgExpr* argument) {
    error(argument->getBeginLoc(), "variadic functions are not supported in Metal");
    return true;
  }
  bool VisitGotoStmt(GotoStmt* statement) {
    error(statement->getBeginLoc(), "'goto' is not supported in Metal");
    return true;
  }

 private:
  template <typename Traverse>
  bool in_function(const FunctionDecl& function, const Traverse& traverse) {
    const FunctionDecl* outer = function_;
    function_ = &function;
    const bool go_on = traverse();
    function_ = outer;
    return go_on;
  }

  // What a template says is wrong for all that is made of it, or for some.
  void check_id(const FieldDecl& field) {
    const AnnotateAttr* id = find_annotation(field, "id");
    if (!id || llvm::any_of(id->args(), [](const Expr* index) { return index->isValueDependent(); })) return;
    if (fields_with_wrong_ids_.contains(field.getLocation())) return;
    if (!index_argument(session_.context(), field, *id, std::numeric_limits<std::uint32_t>::max())) {
      fields_with_wrong_ids_.insert(field.getLocation());
    }
  }
  void check_ids(const CXXRecordDecl& record) {
    for (const Decl* member : record.decls()) {
      if (const auto* field = llvm::dyn_cast<FieldDecl>(member)) check_id(*field);
      const auto* inner = llvm::dyn_cast<CXXRecordDecl>(member);
      if (inner && !inner->isInjectedClassName()) check_ids(*inner);
    }
  }

  // Whether the programmer had to name a space before the `*` or `&`. Not in front of what a template or a deduction
  // stands for, which brings its own, nor for pointers in the thread's memory (`device char** text`, `device int*
  // (&rows)[2]`).
  bool lacks_space(SourceLocation declarator, TypeLoc pointee) const {
    const QualType type = pointee.getType();
    const TypeLoc inner = pointee.getUnqualifiedLoc();
    if (declarator.isInvalid() || type->isDependentType() || type->isFunctionType() ||
        session_.context().getBaseElementType(type)->isPointerType() || type->getContainedAutoType() ||
        type.getAddressSpace() != LangAS::Default || inner.getAs<DecltypeTypeLoc>() ||
        inner.getAs<SubstTemplateTypeParmTypeLoc>()) {
      return false;
    }
    const SourceManager& sources = session_.context().getSourceManager();
    return !is_in_library(sources, declarator) && !session_.names_thread(declarator);
  }

  template <unsigned N>
  DiagnosticBuilder error(SourceLocation location, const char (&text)[N]) {
    return diagnostics_.Report(location, diagnostics_.getCustomDiagID(DiagnosticsEngine::Error, text));
  }

  Session& session_;
  DiagnosticsEngine& diagnostics_;
  LanguageVersion language_;
  const FunctionDecl* function_ = nullptr;
  std::set<SourceLocation> fields_with_wrong_ids_;
};

}  // namespace

void check_source_rules(Session& session, LanguageVersion language) {
  SourceRules rules(session, language);
  const SourceManager& sources = session.context().getSourceManager();
  // Only what was parsed: nothing of the precompiled library is loaded for this walk.
  for (Decl* declaration : session.context().getTranslationUnitDecl()->noload_decls()) {
    if (!is_in_library(sources, declaration->getLocation())) rules.TraverseDecl(declaration);
  }
}

}  // namespace metalloid::frontend
