// Words by which Clang lets a source reach the machine below it, and which Metal does not have: assembly and assembler
// labels, Clang's builtin functions but those that only compute, attributes that name sections, other symbols or other
// calling conventions, and annotations, which are this front end's own means. The library's headers use some of them.
//
// Public kernels reach Apple's copies by a simdgroup through labels; those that the library has are accepted
// (metalloid/async_copy.h).

#include <llvm/ADT/StringSet.h>

#include "frontend/files/library_places.h"
#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

// Builtin functions that compute a value from values, and nothing else.
bool is_harmless_builtin(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"__builtin_expect",         "__builtin_expect_with_probability",
                                          "__builtin_unreachable",
                                          "__builtin_trap",  // a crash of the kernel, which the host survives
                                          "__builtin_assume",         "__builtin_assume_aligned",
                                          "__builtin_constant_p",     "__builtin_is_constant_evaluated",
                                          "__builtin_addressof",      "__builtin_launder",
                                          "__builtin_memcpy",         "__builtin_memmove",
                                          "__builtin_memset",         "__builtin_prefetch",
                                          "__builtin_shufflevector",  "__builtin_convertvector",
                                          "__builtin_bswap16",        "__builtin_bswap32",
                                          "__builtin_bswap64",        "__builtin_LINE",
                                          "__builtin_COLUMN",         "__builtin_FILE",
                                          "__builtin_FUNCTION",       "__builtin_nanf",
                                          "__builtin_nansf",          "__builtin_inff",
                                          "__builtin_huge_valf",      "__builtin_isnan",
                                          "__builtin_isinf",          "__builtin_isinf_sign",
                                          "__builtin_isfinite",       "__builtin_isnormal",
                                          "__builtin_issubnormal",    "__builtin_iszero",
                                          "__builtin_issignaling",    "__builtin_signbit",
                                          "__builtin_signbitf",       "__builtin_isgreater",
                                          "__builtin_isgreaterequal", "__builtin_isless",
                                          "__builtin_islessequal",    "__builtin_islessgreater",
                                          "__builtin_isunordered",    "__builtin_fpclassify",
                                          "__builtin_isfpclass"};
  if (names.contains(name)) return true;
  if (name.starts_with("__builtin_elementwise_") || name.starts_with("__builtin_reduce_")) return true;
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
      "fabs",     "fmin", "fmax", "fma",   "sqrt", "floor", "ceil",  "trunc", "rint", "round", "roundeven", "nearbyint",
      "copysign", "exp",  "exp2", "exp10", "log",  "log2",  "log10", "sin",   "cos",  "tan",   "pow",       "fmod"};
  return functions.contains(rest);
}

// Attributes that say where or how code lies in the program of a host.
bool is_attribute_of_hosts(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"alias",
                                          "ifunc",
                                          "weakref",
                                          "weak",
                                          "weak_import",
                                          "naked",
                                          "section",
                                          "code_seg",
                                          "constructor",
                                          "destructor",
                                          "init_priority",
                                          "cleanup",
                                          "target",
                                          "target_clones",
                                          "target_version",
                                          "cpu_dispatch",
                                          "cpu_specific",
                                          "interrupt",
                                          "signal",
                                          "returns_twice",
                                          "dllimport",
                                          "dllexport",
                                          "selectany",
                                          "thread",
                                          "tls_model",
                                          "common",
                                          "retain",
                                          "no_caller_saved_registers",
                                          "no_callee_saved_registers",
                                          "cdecl",
                                          "stdcall",
                                          "fastcall",
                                          "thiscall",
                                          "vectorcall",
                                          "regcall",
                                          "regparm",
                                          "pascal",
                                          "ms_abi",
                                          "sysv_abi",
                                          "pcs",
                                          "swiftcall",
                                          "swiftasynccall",
                                          "preserve_most",
                                          "preserve_all",
                                          "preserve_none",
                                          "intel_ocl_bicc",
                                          "aarch64_vector_pcs",
                                          "aarch64_sve_pcs",
                                          "amdgpu_kernel",
                                          "device_kernel",
                                          "nvptx_kernel",
                                          "opencl_kernel",
                                          "ms_hook_prologue",
                                          "patchable_function_entry",
                                          "xray_always_instrument",
                                          "split_stack",
                                          "safe_stack",
                                          "shadow_stack",
                                          "not_tail_called",
                                          "musttail",
                                          "asm_label",
                                          "annotate",
                                          "annotate_type",
                                          "builtin_alias",
                                          "clang_builtin_alias",
                                          "blocks",
                                          "objc_runtime_name",
                                          "sycl_kernel",
                                          "sycl_external",
                                          "global",
                                          "host"};
  return names.contains(name);
}

llvm::StringRef without_underscores(llvm::StringRef name) {
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) name = name.drop_front(2).drop_back(2);
  return name;
}

bool is_library_label(llvm::StringRef label) {
  static const llvm::StringSet<> names = {
      "air.simdgroup_async_copy_1d.p3i8.p1i8", "air.simdgroup_async_copy_1d.p1i8.p3i8",
      "air.simdgroup_async_copy_2d.p3i8.p1i8", "air.simdgroup_async_copy_2d.p1i8.p3i8", "air.wait_simdgroup_events"};
  return names.contains(label);
}

// The text in the brackets after the `asm` at `index`.
std::string label_text(const TokenList& tokens, std::size_t index, const TokenFactory& factory) {
  std::string text;
  for (std::size_t i = index + 2; i < tokens.size() && tokens[i].is(tok::string_literal); ++i) {
    const std::string part = factory.spelling(tokens[i]);
    text += part.size() < 2 ? part : part.substr(1, part.size() - 2);
  }
  return text;
}

class HostWords {
 public:
  HostWords(const TokenList& tokens, TokenFactory& factory)
      : tokens_(tokens), factory_(factory), sources_(factory.preprocessor().getSourceManager()) {}

  void reject() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.isAnnotation() || token.isLiteral()) continue;
      const IdentifierInfo* name = token.getIdentifierInfo();
      const bool is_list = is_attribute_start(tokens_, i);
      if ((!name && !is_list) || is_written_in_library(sources_, token.getLocation())) continue;
      if (is_list) {
        reject_attributes(i + 2, skip_attribute(tokens_, i));
      } else if (token.is(tok::kw_asm)) {
        reject_assembly(i);
      } else if (token.isOneOf(tok::kw___attribute, tok::kw___declspec)) {
        if (i + 1 < tokens_.size() && tokens_[i + 1].is(tok::l_paren)) {
          reject_attributes(i + 2, skip_balanced(tokens_, i + 1));
        }
      } else if (token.isOneOf(tok::kw___thread, tok::kw_thread_local, tok::kw__Thread_local)) {
        factory_.error(token.getLocation(), "'%0' is not supported in Metal") << word(token);
      } else if (name->getBuiltinID() != 0 && !is_harmless_builtin(name->getName())) {
        // Names of the C library are builtins too, and may be the user's.
        if (name->getName().starts_with("__")) {
          factory_.error(token.getLocation(), "'%0' is not available in Metal") << name->getName();
        }
      }
    }
  }

 private:
  // The names at [begin, end), their arguments left out, and the names of namespaces with them.
  void reject_attributes(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      const llvm::StringRef name = without_underscores(word(token));
      if (is_attribute_of_hosts(name) && !is_written_in_library(sources_, token.getLocation())) {
        factory_.error(token.getLocation(), "'%0' attribute is not supported in Metal") << name;
      }
      // Arguments: but `__attribute__((...))` has a second bracket before the names.
      if (token.is(tok::l_paren) && i != begin) i = skip_balanced(tokens_, i) - 1;
    }
  }

  void reject_assembly(std::size_t index) {
    const SourceLocation place = tokens_[index].getLocation();
    if (!is_label(index)) {
      factory_.error(place, "inline assembly is not supported in Metal");
      return;
    }
    const std::string text = label_text(tokens_, index, factory_);
    if (is_library_label(text)) return;
    if (text.starts_with("air.")) {
      factory_.error(place, "function '%0' is not supported by Metalloid") << text;
    } else {
      factory_.error(place, "assembler labels are not supported in Metal: '%0'") << text;
    }
  }

  // Labels follow a declarator; statements and definitions follow the end of another, or a condition.
  bool is_label(std::size_t index) const {
    if (index == 0 || index + 1 >= tokens_.size() || tokens_[index + 1].isNot(tok::l_paren)) return false;
    const Token& before = tokens_[index - 1];
    if (before.isOneOf(tok::identifier, tok::r_square, tok::kw_const, tok::kw_noexcept)) return true;
    if (before.isNot(tok::r_paren)) return false;
    std::size_t open = index - 1;
    for (int depth = 0; open > 0; --open) {
      if (tokens_[open].is(tok::r_paren)) ++depth;
      if (tokens_[open].is(tok::l_paren) && --depth == 0) break;
    }
    return open == 0 || !tokens_[open - 1].isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch);
  }

  const TokenList& tokens_;
  TokenFactory& factory_;
  const SourceManager& sources_;
};

}  // namespace

bool names_library_label(const TokenList& tokens, Preprocessor& preprocessor) {
  const TokenFactory factory(preprocessor);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is(tok::kw_asm) && is_library_label(label_text(tokens, i, factory)) &&
        !is_written_in_library(preprocessor.getSourceManager(), tokens[i].getLocation())) {
      return true;
    }
  }
  return false;
}

void reject_words_of_hosts(const TokenList& tokens, TokenFactory& factory) { HostWords(tokens, factory).reject(); }

}  // namespace metalloid::frontend::tokens
