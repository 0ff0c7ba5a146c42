// Functions of Clang's Sema that MSL needs to behave differently. The linker's --wrap (sema_wraps.link) sends
// Clang's own calls here; `__real_` is the original. Keep every wrap in this file, with its reason.

#include <clang/Sema/Initialization.h>
#include <clang/Sema/Sema.h>

#include "frontend/code/macro_places.h"
#include "frontend/reflection/annotations.h"
#include "frontend/tokens/rewrite.h"

using namespace clang;
using metalloid::frontend::find_annotation;
using metalloid::frontend::tokens::own_space_annotation;

// 1. `cond ? x[i] : T(0)` where x is `device T*` and T a class (vec<T, N> and bfloat are classes here): Clang does
//    not unify a class in `device` with the same class in the default space. Copy such operands first.
// 2. `cond ? b : 0` with b a bfloat: bfloat converts to float and integers convert to bfloat, which C++ calls
//    ambiguous. Metal's usual conversions: integer -> bfloat, with float or half -> float.
//    Tests: tests/kernels/language/conditional_operator.metal.
#define METALLOID_CONDITIONAL                                                                                       \
  "_ZN5clang4Sema27CXXCheckConditionalOperandsERNS_12ActionResultIPNS_4ExprELb1EEES5_S5_RNS_13ExprValueKindERNS_14" \
  "ExprObjectKindENS_14SourceLocationE"

QualType real_check_conditional_operands(Sema* self, ExprResult& condition, ExprResult& left, ExprResult& right,
                                         ExprValueKind& value_kind, ExprObjectKind& object_kind,
                                         SourceLocation location) __asm__("__real_" METALLOID_CONDITIONAL);
QualType wrap_check_conditional_operands(Sema* self, ExprResult& condition, ExprResult& left, ExprResult& right,
                                         ExprValueKind& value_kind, ExprObjectKind& object_kind,
                                         SourceLocation location) __asm__("__wrap_" METALLOID_CONDITIONAL);

namespace {

bool is_bfloat(QualType type) {
  const CXXRecordDecl* record = type->getAsCXXRecordDecl();
  return record && record->getIdentifier() && record->getName() == "bfloat";
}

// Copies a class operand out of its address space.
void copy_to_thread(Sema& sema, ExprResult& operand, SourceLocation location) {
  const QualType type = operand.get()->getType();
  if (!type->isRecordType() || !type.hasAddressSpace()) return;
  const QualType unqualified = sema.Context.removeAddrSpaceQualType(type).getUnqualifiedType();
  operand = sema.PerformCopyInitialization(InitializedEntity::InitializeTemporary(unqualified), location, operand);
}

void convert(Sema& sema, ExprResult& operand, QualType type, SourceLocation location) {
  operand = sema.PerformCopyInitialization(InitializedEntity::InitializeTemporary(type), location, operand);
}

void unify_bfloat(Sema& sema, ExprResult& bfloat_operand, ExprResult& other, SourceLocation location) {
  const QualType type = other.get()->getType();
  if (type->isRealFloatingType()) {
    convert(sema, bfloat_operand, sema.Context.FloatTy, location);
    if (bfloat_operand.isUsable()) convert(sema, other, sema.Context.FloatTy, location);
  } else if (type->isIntegralOrUnscopedEnumerationType()) {
    convert(sema, other, bfloat_operand.get()->getType().getUnqualifiedType(), location);
  }
}

}  // namespace

QualType wrap_check_conditional_operands(Sema* self, ExprResult& condition, ExprResult& left, ExprResult& right,
                                         ExprValueKind& value_kind, ExprObjectKind& object_kind,
                                         SourceLocation location) {
  if (left.isUsable() && right.isUsable() && !left.get()->isTypeDependent() && !right.get()->isTypeDependent() &&
      !self->Context.hasSameType(left.get()->getType(), right.get()->getType())) {
    copy_to_thread(*self, left, location);
    if (left.isUsable()) copy_to_thread(*self, right, location);
    if (left.isUsable() && right.isUsable()) {
      const bool left_is_bfloat = is_bfloat(left.get()->getType());
      const bool right_is_bfloat = is_bfloat(right.get()->getType());
      if (left_is_bfloat && !right_is_bfloat) unify_bfloat(*self, left, right, location);
      if (right_is_bfloat && !left_is_bfloat) unify_bfloat(*self, right, left, location);
    }
    if (!left.isUsable() || !right.isUsable()) return QualType();
  }
  return real_check_conditional_operands(self, condition, left, right, value_kind, object_kind, location);
}

// 3. `constant constexpr float Table<6>::values[8];` after the class repeats what is a definition there since C++17.
//    Clang asks for an initialiser, as for every other variable in `constant`. So it does at `static constant T value;`
//    in the class, which only declares.
//    Test: tests/kernels/library_names.metal.
#define METALLOID_UNINITIALIZED "_ZN5clang4Sema22ActOnUninitializedDeclEPNS_4DeclE"

void real_act_on_uninitialized(Sema* self, Decl* declaration) __asm__("__real_" METALLOID_UNINITIALIZED);
void wrap_act_on_uninitialized(Sema* self, Decl* declaration) __asm__("__wrap_" METALLOID_UNINITIALIZED);

void wrap_act_on_uninitialized(Sema* self, Decl* declaration) {
  const auto* variable = llvm::dyn_cast_or_null<VarDecl>(declaration);
  if (variable && variable->isStaticDataMember() &&
      (variable->isOutOfLine() ? variable->isConstexpr() : !variable->isInline())) {
    return;
  }
  real_act_on_uninitialized(self, declaration);
}

// 4. `&values[i]` with `device array<float, 4>& values`: members that are written once per address space are one
// generic
//    member here (tokens/members.cpp), whose result would be in the generic space. It takes the object's space again.
//    Test: tests/kernels/own_space.metal.
#define METALLOID_SUBSCRIPT \
  "_ZN5clang4Sema34CreateOverloadedArraySubscriptExprENS_14SourceLocationES1_PNS_4ExprEN4llvm15MutableArrayRefIS3_EE"
#define METALLOID_MEMBER_CALL                                                                                      \
  "_ZN5clang4Sema25BuildCallToMemberFunctionEPNS_5ScopeEPNS_4ExprENS_14SourceLocationEN4llvm15MutableArrayRefIS4_" \
  "EES5_S4_bb"

ExprResult real_subscript(Sema* self, SourceLocation left, SourceLocation right, Expr* base,
                          MultiExprArg arguments) __asm__("__real_" METALLOID_SUBSCRIPT);
ExprResult wrap_subscript(Sema* self, SourceLocation left, SourceLocation right, Expr* base,
                          MultiExprArg arguments) __asm__("__wrap_" METALLOID_SUBSCRIPT);
ExprResult real_member_call(Sema* self, Scope* scope, Expr* member, SourceLocation left, MultiExprArg arguments,
                            SourceLocation right, Expr* configuration, bool is_configuration,
                            bool allow_recovery) __asm__("__real_" METALLOID_MEMBER_CALL);
ExprResult wrap_member_call(Sema* self, Scope* scope, Expr* member, SourceLocation left, MultiExprArg arguments,
                            SourceLocation right, Expr* configuration, bool is_configuration,
                            bool allow_recovery) __asm__("__wrap_" METALLOID_MEMBER_CALL);

namespace {

// The named space that an object lies in, else Default. Members of constexpr variables stay generic, for the sake of
// constant expressions.
LangAS space_of_object(const Expr* object) {
  const QualType type = object->getType();
  const LangAS space = type->isPointerType() ? type->getPointeeType().getAddressSpace() : type.getAddressSpace();
  const auto* name = llvm::dyn_cast<DeclRefExpr>(object->IgnoreParenImpCasts());
  const auto* variable = name ? llvm::dyn_cast<VarDecl>(name->getDecl()) : nullptr;
  return space == LangAS::opencl_private || (variable && variable->isConstexpr()) ? LangAS::Default : space;
}

// The space of the object in `object.member` or `object->member`.
LangAS space_of_member_object(const Expr* member) {
  member = member->IgnoreParens();
  if (const auto* known = llvm::dyn_cast<MemberExpr>(member)) return space_of_object(known->getBase());
  const auto* overloaded = llvm::dyn_cast<UnresolvedMemberExpr>(member);
  return overloaded && !overloaded->isImplicitAccess() ? space_of_object(overloaded->getBase()) : LangAS::Default;
}

ExprResult move_to_space(Sema& sema, ExprResult result, LangAS space) {
  // No constant expression can contain the cast, and initialisers outside of functions should be ones.
  if (!result.isUsable() || space == LangAS::Default || sema.isConstantEvaluatedContext() ||
      !sema.CurContext->isFunctionOrMethod()) {
    return result;
  }
  auto* call = llvm::dyn_cast<CallExpr>(result.get());
  const auto* method = call ? llvm::dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee()) : nullptr;
  if (!method || !find_annotation(*method, own_space_annotation)) return result;
  ASTContext& context = sema.Context;
  const QualType type = call->getType();
  const auto cast_pointer = [&](Expr* pointer, QualType pointee) {
    const QualType target = context.getPointerType(context.getAddrSpaceQualType(pointee, space));
    return ImplicitCastExpr::Create(context, target, CK_AddressSpaceConversion, pointer, nullptr, VK_PRValue,
                                    FPOptionsOverride());
  };
  if (call->isLValue() && !type.hasAddressSpace()) {  // *(device T*)&call: code generation converts pointers only
    Expr* address = UnaryOperator::Create(context, call, UO_AddrOf, context.getPointerType(type), VK_PRValue,
                                          OK_Ordinary, call->getBeginLoc(), false, FPOptionsOverride());
    return UnaryOperator::Create(context, cast_pointer(address, type), UO_Deref,
                                 context.getAddrSpaceQualType(type, space), VK_LValue, OK_Ordinary, call->getBeginLoc(),
                                 false, FPOptionsOverride());
  }
  if (type->isPointerType() && !type->getPointeeType().hasAddressSpace()) {
    return cast_pointer(call, type->getPointeeType());
  }
  return result;
}

}  // namespace

// The space is asked for first: Clang changes the type of a cast that it can reuse.
ExprResult wrap_subscript(Sema* self, SourceLocation left, SourceLocation right, Expr* base, MultiExprArg arguments) {
  const LangAS space = space_of_object(base);
  return move_to_space(*self, real_subscript(self, left, right, base, arguments), space);
}

ExprResult wrap_member_call(Sema* self, Scope* scope, Expr* member, SourceLocation left, MultiExprArg arguments,
                            SourceLocation right, Expr* configuration, bool is_configuration, bool allow_recovery) {
  const LangAS space = space_of_member_object(member);
  return move_to_space(
      *self,
      real_member_call(self, scope, member, left, arguments, right, configuration, is_configuration, allow_recovery),
      space);
}

// 5. `template <typename T, uint N> void f(vec<T, N>)`: vec's length is an int, and C++ deduces it for an int parameter
//    only. Metal's does for every integer, as C++ does for the bound of an array.
//    Test: tests/kernels/vectors.metal.
#define METALLOID_TEMPLATE_ARGUMENT                                                                           \
  "_ZN5clang4Sema21CheckTemplateArgumentEPNS_9NamedDeclERNS_19TemplateArgumentLocES2_NS_14SourceLocationES5_" \
  "jRNS0_25CheckTemplateArgumentInfoENS0_25CheckTemplateArgumentKindE"

bool real_check_template_argument(Sema* self, NamedDecl* parameter, TemplateArgumentLoc& argument, NamedDecl* owner,
                                  SourceLocation location, SourceLocation right_angle, unsigned pack_index,
                                  Sema::CheckTemplateArgumentInfo& information,
                                  Sema::CheckTemplateArgumentKind kind) __asm__("__real_" METALLOID_TEMPLATE_ARGUMENT);
bool wrap_check_template_argument(Sema* self, NamedDecl* parameter, TemplateArgumentLoc& argument, NamedDecl* owner,
                                  SourceLocation location, SourceLocation right_angle, unsigned pack_index,
                                  Sema::CheckTemplateArgumentInfo& information,
                                  Sema::CheckTemplateArgumentKind kind) __asm__("__wrap_" METALLOID_TEMPLATE_ARGUMENT);

bool wrap_check_template_argument(Sema* self, NamedDecl* parameter, TemplateArgumentLoc& argument, NamedDecl* owner,
                                  SourceLocation location, SourceLocation right_angle, unsigned pack_index,
                                  Sema::CheckTemplateArgumentInfo& information, Sema::CheckTemplateArgumentKind kind) {
  const auto* value = llvm::dyn_cast<NonTypeTemplateParmDecl>(parameter);
  if (kind == Sema::CTAK_Deduced && value && value->getType()->isIntegerType()) kind = Sema::CTAK_DeducedFromArrayBound;
  return real_check_template_argument(self, parameter, argument, owner, location, right_angle, pack_index, information,
                                      kind);
}

// 6. `1u << 33` as a constant expression: Metal masks the amount of a shift, and Clang's evaluator of constant
//    expressions does not know that. The mask becomes part of the expression.
//    Test: tests/kernels/out_of_range_constants.metal.
#define METALLOID_BINARY_OPERATOR                                                                                  \
  "_ZN5clang14BinaryOperator6CreateERKNS_10ASTContextEPNS_4ExprES5_NS_18BinaryOperatorKindENS_8QualTypeENS_13Expr" \
  "ValueKindENS_14ExprObjectKindENS_14SourceLocationENS_17FPOptionsOverrideE"
#define METALLOID_COMPOUND_ASSIGNMENT                                                                            \
  "_ZN5clang22CompoundAssignOperator6CreateERKNS_10ASTContextEPNS_4ExprES5_NS_18BinaryOperatorKindENS_8QualType" \
  "ENS_13ExprValueKindENS_14ExprObjectKindENS_14SourceLocationENS_17FPOptionsOverrideES7_S7_"

BinaryOperator* real_binary_operator(const ASTContext& context, Expr* left, Expr* right, BinaryOperatorKind kind,
                                     QualType type, ExprValueKind value_kind, ExprObjectKind object_kind,
                                     SourceLocation location,
                                     FPOptionsOverride options) __asm__("__real_" METALLOID_BINARY_OPERATOR);
BinaryOperator* wrap_binary_operator(const ASTContext& context, Expr* left, Expr* right, BinaryOperatorKind kind,
                                     QualType type, ExprValueKind value_kind, ExprObjectKind object_kind,
                                     SourceLocation location,
                                     FPOptionsOverride options) __asm__("__wrap_" METALLOID_BINARY_OPERATOR);
CompoundAssignOperator* real_compound_assignment(const ASTContext& context, Expr* left, Expr* right,
                                                 BinaryOperatorKind kind, QualType type, ExprValueKind value_kind,
                                                 ExprObjectKind object_kind, SourceLocation location,
                                                 FPOptionsOverride options, QualType left_type,
                                                 QualType result_type) __asm__("__real_" METALLOID_COMPOUND_ASSIGNMENT);
CompoundAssignOperator* wrap_compound_assignment(const ASTContext& context, Expr* left, Expr* right,
                                                 BinaryOperatorKind kind, QualType type, ExprValueKind value_kind,
                                                 ExprObjectKind object_kind, SourceLocation location,
                                                 FPOptionsOverride options, QualType left_type,
                                                 QualType result_type) __asm__("__wrap_" METALLOID_COMPOUND_ASSIGNMENT);

namespace {

// Whether the value is known to be less than `width`.
bool is_below(const ASTContext& context, const Expr* amount, unsigned width) {
  if (const auto* mask = llvm::dyn_cast<BinaryOperator>(amount->IgnoreParenImpCasts());
      mask && mask->getOpcode() == BO_And && !mask->isTypeDependent()) {
    return is_below(context, mask->getLHS(), width) || is_below(context, mask->getRHS(), width);
  }
  const auto* literal = llvm::dyn_cast<IntegerLiteral>(amount->IgnoreParenImpCasts());
  return literal && literal->getValue().ult(width);
}

// The amount of a shift of a `shifted`, masked where it may be out of range.
Expr* mask_amount(const ASTContext& context, Expr* amount, QualType shifted) {
  const QualType type = amount->getType();
  if (shifted->isDependentType() || type->isDependentType() || !shifted->isIntegerType() || !type->isIntegerType()) {
    return amount;
  }
  const auto width = static_cast<unsigned>(context.getTypeSize(shifted));
  if (!llvm::isPowerOf2_32(width) || is_below(context, amount, width)) return amount;
  const SourceLocation place = amount->getExprLoc();
  Expr* mask = IntegerLiteral::Create(context, llvm::APInt(static_cast<unsigned>(context.getIntWidth(type)), width - 1),
                                      type, place);
  return real_binary_operator(context, amount, mask, BO_And, type, VK_PRValue, OK_Ordinary, place, FPOptionsOverride());
}

}  // namespace

BinaryOperator* wrap_binary_operator(const ASTContext& context, Expr* left, Expr* right, BinaryOperatorKind kind,
                                     QualType type, ExprValueKind value_kind, ExprObjectKind object_kind,
                                     SourceLocation location, FPOptionsOverride options) {
  if (BinaryOperator::isShiftOp(kind)) right = mask_amount(context, right, type);
  return real_binary_operator(context, left, right, kind, type, value_kind, object_kind, location, options);
}

CompoundAssignOperator* wrap_compound_assignment(const ASTContext& context, Expr* left, Expr* right,
                                                 BinaryOperatorKind kind, QualType type, ExprValueKind value_kind,
                                                 ExprObjectKind object_kind, SourceLocation location,
                                                 FPOptionsOverride options, QualType left_type, QualType result_type) {
  if (kind == BO_ShlAssign || kind == BO_ShrAssign) right = mask_amount(context, right, result_type);
  return real_compound_assignment(context, left, right, kind, type, value_kind, object_kind, location, options,
                                  left_type, result_type);
}

// 7. Debug locations of code from a macro's body: Clang takes the place where the macro is expanded
//    (frontend/code/macro_places.h). Tests: tests/checker/several/kernels_of_a_macro.metal.
#define METALLOID_FILE_LOCATION "_ZNK5clang13SourceManager18getFileLocSlowCaseENS_14SourceLocationE"

SourceLocation real_file_location(const SourceManager* sources,
                                  SourceLocation place) __asm__("__real_" METALLOID_FILE_LOCATION);
SourceLocation wrap_file_location(const SourceManager* sources,
                                  SourceLocation place) __asm__("__wrap_" METALLOID_FILE_LOCATION);

SourceLocation wrap_file_location(const SourceManager* sources, SourceLocation place) {
  const SourceLocation outside = real_file_location(sources, place);
  auto* places = metalloid::frontend::MacroPlaces::current();
  return places ? places->stand_in(place, outside) : outside;
}

// 8. Whether a call may unwind into something: never, without exceptions. Clang says so only behind a walk over all
//    scopes that are open, and a variable that ends opens one: thousands of them, each with calls, take seconds.
#define METALLOID_LANDING_PAD "_ZNK5clang7CodeGen12EHScopeStack18requiresLandingPadEv"

bool wrap_requires_landing_pad(const void* scopes) __asm__("__wrap_" METALLOID_LANDING_PAD);

bool wrap_requires_landing_pad(const void* /*scopes*/) { return false; }
