#include "frontend/reflection/kernel_uses.h"

#include <algorithm>

#include <clang/AST/Expr.h>

#include "frontend/reflection/annotations.h"

namespace metalloid::frontend {
namespace {
thread_local KernelUses* current_uses = nullptr;
}

KernelUses::KernelUses() : outer_(current_uses) { current_uses = this; }
KernelUses::~KernelUses() { current_uses = outer_; }

void KernelUses::add(const clang::FunctionDecl& function, clang::SourceLocation place) {
  uses_.emplace_back(&function, place);
}

void KernelUses::check(Session& session) const {
  clang::DiagnosticsEngine& diagnostics = session.context().getDiagnostics();
  std::vector<clang::SourceLocation> reported;  // a template's use counts once
  for (const auto& [function, place] : uses_) {
    if (!find_annotation(*function->getMostRecentDecl(), "kernel")) continue;
    if (std::find(reported.begin(), reported.end(), place) != reported.end()) continue;
    reported.push_back(place);
    diagnostics.Report(place, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                          "kernel function %0 cannot be called from other functions, "
                                                          "and has no address: only a host can run it"))
        << function->getDeclName();
  }
}

}  // namespace metalloid::frontend

// Every expression that names a function is made here (wrapped like Sema's functions, sema_wraps.cpp).
#define METALLOID_NAME_BY_INFORMATION                                                                      \
  "_ZN5clang11DeclRefExpr6CreateERKNS_10ASTContextENS_22NestedNameSpecifierLocENS_14SourceLocationEPNS_"   \
  "9ValueDeclEbRKNS_19"                                                                                    \
  "DeclarationNameInfoENS_8QualTypeENS_13ExprValueKindEPNS_9NamedDeclEPKNS_24TemplateArgumentListInfoENS_" \
  "15NonOdrUseReasonE"
#define METALLOID_NAME_BY_PLACE                                                                                 \
  "_ZN5clang11DeclRefExpr6CreateERKNS_10ASTContextENS_22NestedNameSpecifierLocENS_14SourceLocationEPNS_9ValueD" \
  "eclEbS5_NS_8QualTypeENS_13ExprValueKindEPNS_9NamedDeclEPKNS_24TemplateArgumentListInfoENS_15NonOdrUseReasonE"

using clang::ASTContext;
using clang::DeclarationNameInfo;
using clang::DeclRefExpr;
using clang::ExprValueKind;
using clang::NamedDecl;
using clang::NestedNameSpecifierLoc;
using clang::NonOdrUseReason;
using clang::QualType;
using clang::SourceLocation;
using clang::TemplateArgumentListInfo;
using clang::ValueDecl;

DeclRefExpr* real_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, const DeclarationNameInfo& name, QualType type,
                       ExprValueKind kind, NamedDecl* found, const TemplateArgumentListInfo* arguments,
                       NonOdrUseReason reason) __asm__("__real_" METALLOID_NAME_BY_INFORMATION);
DeclRefExpr* wrap_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, const DeclarationNameInfo& name, QualType type,
                       ExprValueKind kind, NamedDecl* found, const TemplateArgumentListInfo* arguments,
                       NonOdrUseReason reason) __asm__("__wrap_" METALLOID_NAME_BY_INFORMATION);
DeclRefExpr* real_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, SourceLocation place, QualType type, ExprValueKind kind,
                       NamedDecl* found, const TemplateArgumentListInfo* arguments,
                       NonOdrUseReason reason) __asm__("__real_" METALLOID_NAME_BY_PLACE);
DeclRefExpr* wrap_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, SourceLocation place, QualType type, ExprValueKind kind,
                       NamedDecl* found, const TemplateArgumentListInfo* arguments,
                       NonOdrUseReason reason) __asm__("__wrap_" METALLOID_NAME_BY_PLACE);

namespace {

void record(const ValueDecl* declaration, SourceLocation place, NonOdrUseReason reason) {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration);
  // `decltype(kernel<float>)` of an explicit instantiation uses nothing. Annotations may come with a later declaration.
  if (!function || reason == clang::NOUR_Unevaluated || !metalloid::frontend::current_uses) return;
  if (function->isCXXClassMember() || function->isOverloadedOperator()) return;
  metalloid::frontend::current_uses->add(*function, place);
}

}  // namespace

DeclRefExpr* wrap_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, const DeclarationNameInfo& name, QualType type,
                       ExprValueKind kind, NamedDecl* found, const TemplateArgumentListInfo* arguments,
                       NonOdrUseReason reason) {
  record(declaration, name.getLoc(), reason);
  return real_name(context, qualifier, keyword, declaration, captured, name, type, kind, found, arguments, reason);
}

DeclRefExpr* wrap_name(const ASTContext& context, NestedNameSpecifierLoc qualifier, SourceLocation keyword,
                       ValueDecl* declaration, bool captured, SourceLocation place, QualType type, ExprValueKind kind,
                       NamedDecl* found, const TemplateArgumentListInfo* arguments, NonOdrUseReason reason) {
  record(declaration, place, reason);
  return real_name(context, qualifier, keyword, declaration, captured, place, type, kind, found, arguments, reason);
}
