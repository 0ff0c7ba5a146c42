// Functions of Clang's Sema that MSL needs to behave differently. The linker's --wrap (sema_wraps.link) sends
// Clang's own calls here; `__real_` is the original. Keep every wrap in this file, with its reason.

#include <clang/Sema/Initialization.h>
#include <clang/Sema/Sema.h>

using namespace clang;

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
//    Clang asks for an initialiser, as for every other variable in `constant`.
//    Test: tests/kernels/library_names.metal.
#define METALLOID_UNINITIALIZED "_ZN5clang4Sema22ActOnUninitializedDeclEPNS_4DeclE"

void real_act_on_uninitialized(Sema* self, Decl* declaration) __asm__("__real_" METALLOID_UNINITIALIZED);
void wrap_act_on_uninitialized(Sema* self, Decl* declaration) __asm__("__wrap_" METALLOID_UNINITIALIZED);

void wrap_act_on_uninitialized(Sema* self, Decl* declaration) {
  const auto* variable = llvm::dyn_cast_or_null<VarDecl>(declaration);
  if (variable && variable->isStaticDataMember() && variable->isOutOfLine() && variable->isConstexpr()) return;
  real_act_on_uninitialized(self, declaration);
}
