#include "frontend/tokens/allowed_words.h"

#include <llvm/ADT/StringSet.h>

namespace metalloid::frontend::tokens {

using namespace clang;

bool is_allowed_attribute(AttributeCommonInfo::Kind kind) {
  switch (kind) {
    // How to compile.
    case AttributeCommonInfo::AT_AlwaysInline:
    case AttributeCommonInfo::AT_AssumeAligned:
    case AttributeCommonInfo::AT_CXXAssume:
    case AttributeCommonInfo::AT_CodeAlign:
    case AttributeCommonInfo::AT_Cold:
    case AttributeCommonInfo::AT_Const:
    case AttributeCommonInfo::AT_Convergent:
    case AttributeCommonInfo::AT_FallThrough:
    case AttributeCommonInfo::AT_Flatten:
    case AttributeCommonInfo::AT_GNUInline:
    case AttributeCommonInfo::AT_Hot:
    case AttributeCommonInfo::AT_InternalLinkage:
    case AttributeCommonInfo::AT_Leaf:
    case AttributeCommonInfo::AT_Likely:
    case AttributeCommonInfo::AT_MinSize:
    case AttributeCommonInfo::AT_NoDebug:
    case AttributeCommonInfo::AT_NoDuplicate:
    case AttributeCommonInfo::AT_NoInline:
    case AttributeCommonInfo::AT_NoMerge:
    case AttributeCommonInfo::AT_NoThrow:
    case AttributeCommonInfo::AT_OpenCLUnrollHint:
    case AttributeCommonInfo::AT_OptimizeNone:
    case AttributeCommonInfo::AT_Pure:
    case AttributeCommonInfo::AT_Restrict:
    case AttributeCommonInfo::AT_Unlikely:
    case AttributeCommonInfo::AT_Used:
    case AttributeCommonInfo::AT_Visibility:
    // How to lay out.
    case AttributeCommonInfo::AT_Aligned:
    case AttributeCommonInfo::AT_EmptyBases:
    case AttributeCommonInfo::AT_MayAlias:
    case AttributeCommonInfo::AT_NoUniqueAddress:
    case AttributeCommonInfo::AT_Packed:
    case AttributeCommonInfo::AT_TransparentUnion:
    // What a declaration is, which overload is meant, and what to warn of.
    case AttributeCommonInfo::AT_Artificial:
    case AttributeCommonInfo::AT_Availability:
    case AttributeCommonInfo::AT_CXX11NoReturn:
    case AttributeCommonInfo::AT_CarriesDependency:
    case AttributeCommonInfo::AT_ConstInit:
    case AttributeCommonInfo::AT_Deprecated:
    case AttributeCommonInfo::AT_DiagnoseIf:
    case AttributeCommonInfo::AT_EnableIf:
    case AttributeCommonInfo::AT_EnumExtensibility:
    case AttributeCommonInfo::AT_Error:
    case AttributeCommonInfo::AT_ExcludeFromExplicitInstantiation:
    case AttributeCommonInfo::AT_FlagEnum:
    case AttributeCommonInfo::AT_Format:
    case AttributeCommonInfo::AT_LifetimeBound:
    case AttributeCommonInfo::AT_NSErrorDomain:
    case AttributeCommonInfo::AT_NoEscape:
    case AttributeCommonInfo::AT_NoReturn:
    case AttributeCommonInfo::AT_NonNull:
    case AttributeCommonInfo::AT_ObjCBoxable:
    case AttributeCommonInfo::AT_Overloadable:
    case AttributeCommonInfo::AT_PreferredName:
    case AttributeCommonInfo::AT_ReturnsNonNull:
    case AttributeCommonInfo::AT_Suppress:
    case AttributeCommonInfo::AT_SwiftName:
    case AttributeCommonInfo::AT_SwiftNewType:
    case AttributeCommonInfo::AT_SwiftPrivate:
    case AttributeCommonInfo::AT_TypeVisibility:
    case AttributeCommonInfo::AT_Unavailable:
    case AttributeCommonInfo::AT_Uninitialized:
    case AttributeCommonInfo::AT_Unused:
    case AttributeCommonInfo::AT_WarnUnused:
    case AttributeCommonInfo::AT_WarnUnusedResult:
    // Words that Clang does not know, or knows and passes over.
    case AttributeCommonInfo::IgnoredAttribute:
    case AttributeCommonInfo::UnknownAttribute: return true;
    default: return false;
  }
}

bool is_allowed_builtin(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"__builtin_expect",        "__builtin_expect_with_probability",
                                          "__builtin_unreachable",
                                          "__builtin_trap",  // a crash of the kernel, which the host survives
                                          "__builtin_assume",        "__builtin_assume_aligned",
                                          "__builtin_constant_p",    "__builtin_is_constant_evaluated",
                                          "__builtin_addressof",     "__builtin_launder",
                                          "__builtin_memcpy",        "__builtin_memmove",
                                          "__builtin_memset",        "__builtin_prefetch",
                                          "__builtin_shufflevector", "__builtin_bswap16",
                                          "__builtin_bswap32",       "__builtin_bswap64",
                                          "__builtin_nanf",          "__builtin_nansf",
                                          "__builtin_inff",          "__builtin_huge_valf",
                                          "__builtin_isnan",         "__builtin_isinf",
                                          "__builtin_isinf_sign",    "__builtin_isfinite",
                                          "__builtin_isnormal",      "__builtin_issubnormal",
                                          "__builtin_iszero",        "__builtin_issignaling",
                                          "__builtin_signbit",       "__builtin_signbitf",
                                          "__builtin_isgreater",     "__builtin_isgreaterequal",
                                          "__builtin_isless",        "__builtin_islessequal",
                                          "__builtin_islessgreater", "__builtin_isunordered",
                                          "__builtin_fpclassify",    "__builtin_isfpclass"};
  if (names.contains(name)) return true;
  llvm::StringRef rest = name;
  if (!rest.consume_front("__builtin_")) return false;
  if (rest.ends_with("_overflow")) return true;  // add, sub, mul; of every width
  for (const llvm::StringRef bits :
       {"popcount", "clz", "ctz", "ffs", "parity", "clrsb", "bitreverse", "rotateleft", "rotateright", "stdc_"}) {
    if (rest.starts_with(bits)) return true;
  }
  // Functions of floats and halves that are single instructions or intrinsics of LLVM.
  rest.consume_back("f16") || rest.consume_back("f");
  static const llvm::StringSet<> functions = {
      "fabs",      "fmin",     "fmax", "fma",   "sqrt",  "floor", "ceil", "trunc", "rint", "round", "roundeven",
      "nearbyint", "copysign", "exp",  "exp2",  "exp10", "log",   "log2", "log10", "sin",  "cos",   "tan",
      "asin",      "acos",     "atan", "atan2", "sinh",  "cosh",  "tanh", "pow",   "fmod"};
  return functions.contains(rest);
}

bool is_allowed_keyword(tok::TokenKind kind) {
  const char* spelling = tok::getKeywordSpelling(kind);
  if (!spelling || spelling[0] != '_') return true;
  switch (kind) {
    case tok::kw__Alignas:
    case tok::kw__Alignof:
    case tok::kw__Float16:
    case tok::kw__Generic:
    case tok::kw__Nonnull:
    case tok::kw__Noreturn:
    case tok::kw__Null_unspecified:
    case tok::kw__Nullable:
    case tok::kw__Static_assert:
    case tok::kw___FUNCTION__:
    case tok::kw___PRETTY_FUNCTION__:
    case tok::kw___alignof:
    case tok::kw___attribute:  // its list is looked at
    case tok::kw___auto_type:
    case tok::kw___builtin_COLUMN:
    case tok::kw___builtin_FILE:
    case tok::kw___builtin_FILE_NAME:
    case tok::kw___builtin_FUNCTION:
    case tok::kw___builtin_LINE:
    case tok::kw___builtin_bit_cast:
    case tok::kw___builtin_offsetof:
    case tok::kw___constant:  // as are the spaces of memory (qualifiers.cpp)
    case tok::kw___datasizeof:
    case tok::kw___declspec:
    case tok::kw___extension__:
    case tok::kw___func__:
    case tok::kw___global:
    case tok::kw___local:
    case tok::kw___null:
#define TYPE_TRAIT(count, name, keys) case tok::kw_##name:
#define ARRAY_TYPE_TRAIT(name, trait, keys) case tok::kw_##name:
#define EXPRESSION_TRAIT(name, trait, keys) case tok::kw_##name:
#define TRANSFORM_TYPE_TRAIT_DEF(trait, name) case tok::kw___##name:
#include <clang/Basic/TokenKinds.def>
      return true;
    default: return false;
  }
}

}  // namespace metalloid::frontend::tokens
