#include "frontend/session/options.h"

#include <cstdlib>

#include <clang/Basic/LangStandard.h>
#include <clang/Lex/PreprocessorOptions.h>

#include "frontend/frontend.h"
#include "frontend/session/target.h"

namespace metalloid::frontend {
namespace {

// MSL is C++17 with OpenCL's address spaces and without its other restrictions (OpenCL stays off).
void set_language(clang::LangOptions& language, const CompileOptions& options) {
  const llvm::Triple triple(neutral_triple);
  std::vector<std::string> includes;
  clang::LangOptions::setLangDefaults(language, clang::Language::CXX, triple, includes,
                                      clang::LangStandard::lang_cxx17);
  language.OpenCLCPlusPlus = 1;
  language.OpenCLCPlusPlusVersion = 202100;
  language.Half = 1;
  language.NativeHalfType = 1;
  language.NativeHalfArgsAndReturns = 1;
  language.SinglePrecisionConstants = 1;
  language.DeclSpecKeyword = 1;
  language.CXXExceptions = 0;
  language.Exceptions = 0;
  language.RTTI = 0;
  language.RTTIData = 0;
  language.Freestanding = 1;
  language.NoBuiltin = 1;
  language.ThreadsafeStatics = 0;
  language.MathErrno = 0;
  language.ConvergentFunctions = 1;
  language.CharIsSigned = 1;
  language.GNUMode = 0;
  language.EmitAllDecls = 0;
  language.InstantiationDepth = 1024;
  language.CXXOperatorNames = 1;  // `not` is a function of MSL and an operator of C++: one meaning
  // Metal 4's tensors take several indices in one subscript, which Clang knows as a part of C++23.
  language.CPlusPlus23 = options.language >= LanguageVersion{4, 0};

  language.setSignedOverflowBehavior(clang::LangOptions::SOB_Defined);  // it wraps

  // NaN and infinity are honoured in every mode: `fast` allows assuming them away and does not ask for it.
  const bool safe = options.math_mode == MathMode::safe;
  language.AllowFPReassoc = !safe;
  language.NoSignedZero = !safe;
  language.AllowRecip = !safe;
  language.ApproxFunc = !safe;
  language.setDefaultFPContractMode(safe ? clang::LangOptions::FPM_On : clang::LangOptions::FPM_Fast);
}

void set_code_generation(clang::CodeGenOptions& code, const CompileOptions& options) {
  code.OptimizationLevel = 2;  // keeps `optnone` off the functions; ir/ runs the passes
  code.UnrollLoops = true;     // or each loop would say that it must stay one
  code.DisableLLVMPasses = 1;
  code.RelaxedAliasing = 1;  // public kernels reinterpret pointers freely
  code.StrictReturn = 0;     // a missing `return` leaves the value undefined, not the way through the code
  code.setDebugInfo(llvm::codegenoptions::DebugLineTablesOnly);
  code.DebugColumnInfo = true;
  code.setInlining(clang::CodeGenOptions::NormalInlining);
  code.Reciprocals = {"none"};  // hardware estimates fall short of MSL's accuracy table
  code.MainFileName = options.source_name;
}

}  // namespace

const char* stdlib_on_disk() {
  const char* folder = std::getenv("METALLOID_STDLIB_DIR");
  return folder && *folder ? folder : nullptr;
}

std::shared_ptr<clang::CompilerInvocation> make_invocation(const CompileOptions& options) {
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  set_language(invocation->getLangOpts(), options);
  set_code_generation(invocation->getCodeGenOpts(), options);

  invocation->getTargetOpts().Triple = neutral_triple;

  auto& search = invocation->getHeaderSearchOpts();
  search.UseBuiltinIncludes = 0;
  search.UseStandardSystemIncludes = 0;
  search.UseStandardCXXIncludes = 0;
  if (!options.source_file.empty()) {
    const auto folder = options.source_file.parent_path();
    search.AddPath(folder.empty() ? "." : folder.string(), clang::frontend::Angled, false, true);
  }
  for (const auto& folder : options.include_directories) {
    search.AddPath(folder.string(), clang::frontend::Angled, false, true);
  }
  search.AddPath(memory_headers_folder, clang::frontend::Angled, false, true);
  const char* on_disk = stdlib_on_disk();
  search.AddPath(on_disk ? on_disk : stdlib_folder, clang::frontend::System, false, true);

  auto& preprocessor = invocation->getPreprocessorOpts();
  for (const auto& [name, value] : options.definitions) {
    std::string definition = name;
    if (!value.empty()) definition.append("=").append(value);
    preprocessor.addMacroDef(definition);
  }

  auto& diagnostics = invocation->getDiagnosticOpts();
  diagnostics.ErrorLimit = 200;        // Diagnostics shows fewer
  diagnostics.ShowPresumedLoc = true;  // #line directives count
  diagnostics.Warnings = {
      "no-vla-cxx-extension",     "no-duplicate-decl-specifier", "no-unknown-pragmas",    "no-unused-value",
      "no-c++20-extensions",      "no-deprecated-declarations",  "no-undefined-inline",   "no-undefined-internal",
      "no-return-type-c-linkage", "no-unknown-attributes",       "no-ignored-attributes", "no-psabi",
  };
  if (options.warnings_as_errors) diagnostics.Warnings.push_back("error");
  return invocation;
}

}  // namespace metalloid::frontend
