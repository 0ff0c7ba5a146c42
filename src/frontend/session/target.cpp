#include "frontend/session/target.h"

#include <clang/Basic/Builtins.h>
#include <clang/Basic/MacroBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <fmt/format.h>
#include <llvm/TargetParser/Host.h>

namespace metalloid::frontend {
namespace {

// Indexed by clang::LangAS: Default, opencl_global, opencl_local, opencl_constant, then spaces that MSL has not.
constexpr clang::LangASMap address_spaces = {0, 1, 3, 2};

class MetalTarget final : public clang::TargetInfo {
 public:
  // `neutral` brings a triple for which Clang has no ABI of its own: aggregates go by pointer, scalars as they are,
  // so kernels have one IR parameter per MSL argument on every host. Sizes and layout are the host's.
  MetalTarget(const clang::TargetInfo& neutral, const clang::TargetInfo& host, LanguageVersion language,
              MathMode math_mode)
      : TargetInfo(neutral), language_(language), math_mode_(math_mode) {
    static_cast<clang::TransferrableTargetInfo&>(*this) = host;
    resetDataLayout(host.getDataLayoutString());
    BigEndian = false;
    AddrSpaceMap = &address_spaces;
    UseAddrSpaceMapMangling = true;
    TLSSupported = false;
    HasFastHalfType = true;
    HasFloat16 = true;
    HasStrictFP = true;  // lets pragmas set the math mode
    HasBFloat16 = true;
    HasFullBFloat16 = true;
    BFloat16Width = BFloat16Align = 16;
    BFloat16Format = &llvm::APFloat::BFloat();
    // double exists only inside variadic os_log arguments; long double does not exist.
    LongDoubleWidth = LongDoubleAlign = 64;
    LongDoubleFormat = &llvm::APFloat::IEEEdouble();
    MaxAtomicPromoteWidth = MaxAtomicInlineWidth = 64;
  }

  void getTargetDefines(const clang::LangOptions&, clang::MacroBuilder& macros) const override {
    const unsigned version = language_.major_version * 100u + language_.minor_version * 10u;
    macros.defineMacro("__METAL_VERSION__", fmt::format("{}", version));
    macros.defineMacro("__METAL_MACOS__", "1");
    if (version >= 300) macros.defineMacro("__METAL__", "1");
    if (version >= 310) macros.defineMacro("__HAVE_BFLOAT__", "1");
    if (math_mode_ != MathMode::safe) macros.defineMacro("__FAST_MATH__", "1");
    macros.defineMacro("__METALLOID__", "1");
    macros.defineMacro("METAL_FUNC", "inline __attribute__((always_inline))");
    macros.defineMacro("METAL_CONST", "__attribute__((const))");
    macros.defineMacro("METAL_PURE", "__attribute__((pure))");
    macros.defineMacro("METAL_INTERNAL", "");
    macros.defineMacro("METAL_VISIBLE", "");
  }

  // The unqualified space is generic: everything converts to it, while the named spaces stay distinct.
  bool isAddressSpaceSupersetOf(clang::LangAS to, clang::LangAS from) const override {
    return to == from || to == clang::LangAS::Default;
  }

  llvm::SmallVector<clang::Builtin::InfosShard> getTargetBuiltins() const override { return {}; }
  BuiltinVaListKind getBuiltinVaListKind() const override { return CharPtrBuiltinVaList; }
  std::string_view getClobbers() const override { return ""; }
  bool hasInt128Type() const override { return false; }
  bool hasBitIntType() const override { return true; }

 private:
  llvm::ArrayRef<const char*> getGCCRegNames() const override { return {}; }
  llvm::ArrayRef<GCCRegAlias> getGCCRegAliases() const override { return {}; }
  bool validateAsmConstraint(const char*&, ConstraintInfo&) const override { return false; }

  LanguageVersion language_;
  MathMode math_mode_;
};

}  // namespace

llvm::IntrusiveRefCntPtr<clang::TargetInfo> make_target(clang::CompilerInstance& compiler, LanguageVersion language,
                                                        MathMode math_mode) {
  auto& diagnostics = compiler.getDiagnostics();
  auto& options = compiler.getInvocation().getTargetOpts();
  const llvm::IntrusiveRefCntPtr<clang::TargetInfo> neutral(clang::TargetInfo::CreateTargetInfo(diagnostics, options));
  clang::TargetOptions host_options;
  host_options.Triple = llvm::sys::getDefaultTargetTriple();
  const llvm::IntrusiveRefCntPtr<clang::TargetInfo> host(
      clang::TargetInfo::CreateTargetInfo(diagnostics, host_options));
  return llvm::makeIntrusiveRefCnt<MetalTarget>(*neutral, *host, language, math_mode);
}

}  // namespace metalloid::frontend
