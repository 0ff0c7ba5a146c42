#include "frontend/diagnostics.h"

#include <cstring>
#include <regex>
#include <utility>

#include <clang/AST/Decl.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/TextDiagnostic.h>

#include "frontend/missing_headers.h"

namespace metalloid::frontend {
namespace {

// Clang has address spaces, and features that they exclude, under the names that OpenCL has for them.
std::string in_metals_words(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"__global ", "device "},
      {"__constant ", "constant "},
      {"__local ", "threadgroup "},
      {"__private ", ""},
      {"'__global'", "'device'"},
      {"'__constant'", "'constant'"},
      {"'__local'", "'threadgroup'"},
      {"'__private'", "'thread'"},
      {"generic address space", "address space 'thread'"},
      {"'default new'", "'new'"},
      {"'default delete'", "'delete'"},
      {"in C++ for OpenCL", "in Metal"},
      {"variable length array declaration cannot have 'static' storage duration",
       "variable length arrays are not supported in Metal"},
      {"no setter defined for property", "vector is not assignable (contains duplicate components):"},
  };
  for (const auto& [clang_word, metal_word] : words) {
    for (std::size_t at = text.find(clang_word); at != std::string::npos; at = text.find(clang_word, at)) {
      text.replace(at, clang_word.size(), metal_word);
    }
  }
  return text;
}

std::string element_name(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"unsigned char", "uchar"}, {"unsigned short", "ushort"}, {"unsigned int", "uint"}, {"unsigned long", "ulong"}};
  for (const auto& [clang_name, metal_name] : names) {
    if (name == clang_name) return std::string(metal_name);
  }
  const std::string_view prefix = "__make_unsigned(";
  return name.starts_with(prefix) ? "u" + name.substr(prefix.size(), name.size() - prefix.size() - 1) : name;
}

// `metal::vec<unsigned int, 3>` is uint3; and what is said twice then is said once.
std::string with_short_types(const std::string& text) {
  static const std::regex library_type(
      "(?:metal::)?(vec|packed_vec|matrix)<((?:[a-z ]|__make_unsigned\\([a-z ]+\\))+), ([234])(?:, ([234]))?>");
  static const std::regex alias("'([^']*)' \\(aka '\\1'\\)");
  std::string result;
  auto rest = text.cbegin();
  std::smatch found;
  for (; std::regex_search(rest, text.cend(), found, library_type); rest = found[0].second) {
    result.append(rest, found[0].first);
    if (found[1] == "packed_vec") result += "packed_";
    result += element_name(found[2]) + found[3].str();
    if (found[4].matched) result += "x" + found[4].str();
  }
  result.append(rest, text.cend());
  return std::regex_replace(result, alias, "'$1'");
}

// Vectors are classes here, and say "no member" where Metal speaks of components.
std::string with_vector_components(const std::string& text) {
  static const std::regex missing_member(
      "no member named '([a-z]{1,4})' in '((?:bool|u?char|u?short|u?int|u?long|half|bfloat|float)[234])'");
  std::smatch found;
  if (!std::regex_match(text, found, missing_member)) return text;
  const std::string name = found[1];
  const std::size_t illegal = name.find_first_not_of("xyzwrgba");
  if (illegal != std::string::npos) return std::string("illegal vector component name '") + name[illegal] + "'";
  const bool is_mixed =
      name.find_first_of("xyzw") != std::string::npos && name.find_first_of("rgba") != std::string::npos;
  if (is_mixed) return "illegal vector component name '" + name + "'";
  return "vector component access exceeds type '" + found[2].str() + "'";
}

// The constructors of vectors are many, and none is news.
bool is_about_construction_of_vector(const std::string& text) {
  static const std::regex construction(
      "no matching (constructor for initialization of|conversion for .* to) '[a-z]+[234]'");
  return std::regex_match(text, construction);
}

// Assertions are written for the programmer; the condition that failed is not.
std::string what_a_library_error_says(const std::string& text) {
  static const std::regex assertion("static assertion failed(?: due to requirement '[^']*')?: ");
  return std::regex_replace(text, assertion, "");
}

// The source from the diagnostic's place on.
std::string_view place_of(const clang::Diagnostic& info) {
  if (info.getLocation().isInvalid() || !info.hasSourceManager()) return {};
  bool is_invalid = false;
  const char* text = info.getSourceManager().getCharacterData(info.getLocation(), &is_invalid);
  return is_invalid ? std::string_view() : std::string_view(text, ::strnlen(text, 128));
}

bool is_in_library(const clang::Diagnostic& info) {
  return info.getLocation().isValid() && info.hasSourceManager() &&
         info.getSourceManager().isInSystemHeader(info.getLocation());
}

}  // namespace

Diagnostics::Diagnostics(clang::DiagnosticOptions& options) : options_(options) {}

Diagnostics::~Diagnostics() = default;

void Diagnostics::BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) {
  printer_ = std::make_unique<clang::TextDiagnostic>(stream_, language, options_, preprocessor);
}

void Diagnostics::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  const bool is_note = level == clang::DiagnosticsEngine::Note;
  if (is_note && drop_notes_) return;
  drop_notes_ = false;
  if (!is_note) library_notes_.clear();
  if (info.getID() == clang::diag::err_explicit_instantiation_duplicate) {
    const auto* declaration = reinterpret_cast<const clang::NamedDecl*>(info.getRawArg(0));
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      repeated_.push_back({function, info.getLocation()});
      drop_notes_ = true;
      return;
    }
  }
  if (level >= clang::DiagnosticsEngine::Error) ++errors_;
  DiagnosticConsumer::HandleDiagnostic(level, info);
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  const std::string text = with_vector_components(with_short_types(in_metals_words(message.str().str())));
  if (!is_note) library_notes_wanted_ = !is_about_construction_of_vector(text);
  if (!is_note) print_library_error_without_place();
  if (is_in_library(info) && level >= clang::DiagnosticsEngine::Error &&
      info.getSourceManager().getFileID(info.getLocation()) != info.getSourceManager().getMainFileID()) {
    library_error_ = what_a_library_error_says(text);
  } else if (is_note && !library_error_.empty()) {
    if (is_in_library(info)) return;
    // "in instantiation of ... requested here": where the programmer caused it.
    library_error_has_place_ = true;
    print(clang::DiagnosticsEngine::Error, info, std::exchange(library_error_, {}));
  } else if (is_note && is_in_library(info)) {
    print_library_note(text);
  } else {
    print(level, info, text);
    const std::string header = header_that_declares(text, place_of(info));
    if (!header.empty() && missing_headers_.insert(header).second) {
      stream_ << "note: #include <" << header << "> declares it\n";
    }
  }
}

void Diagnostics::print_library_error_without_place() {
  // Clang names the place once; more errors at the same place are the first one's consequences.
  if (!library_error_.empty() && !library_error_has_place_) stream_ << "error: " << library_error_ << '\n';
  library_error_.clear();
}

std::string Diagnostics::text() {
  print_library_error_without_place();
  return text_;
}

void Diagnostics::print(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info, llvm::StringRef message) {
  if (info.getLocation().isInvalid() || !printer_) {
    clang::TextDiagnostic::printDiagnosticLevel(stream_, level, /*ShowColors=*/false);
    clang::TextDiagnostic::printDiagnosticMessage(stream_, /*IsSupplemental=*/level == clang::DiagnosticsEngine::Note,
                                                  message, 0, 0,
                                                  /*ShowColors=*/false);
    return;
  }
  // Beside lines whose numbers wrap, the printer would set billions of spaces: #line can say any number.
  constexpr unsigned last_line = 0x7fffffff;
  const unsigned line = info.getSourceManager().getPresumedLoc(info.getLocation()).getLine();
  const bool shows_source = options_.ShowCarets;
  options_.ShowCarets = shows_source && line <= last_line;
  printer_->emitDiagnostic(clang::FullSourceLoc(info.getLocation(), info.getSourceManager()), level, message,
                           info.getRanges(), info.getFixItHints());
  options_.ShowCarets = shows_source;
}

// What a candidate of the standard library lacks is worth a line; where it stands is not.
void Diagnostics::print_library_note(llvm::StringRef message) {
  constexpr std::size_t most_notes = 3;
  constexpr llvm::StringLiteral internal[] = {
      "metalloid", "METALLOID", "'__", "implicit copy", "implicit move", "requirement '", "'simdgroup_matrix'"};
  if (!library_notes_wanted_ || !message.starts_with("candidate")) return;
  if (message.starts_with("candidate function (the implicit copy assignment operator) not viable: no known")) {
    stream_ << "note: " << message.substr(message.find("no known")).rsplit(" for ").first << '\n';
    return;
  }
  for (const llvm::StringRef word : internal) {
    if (message.contains(word)) return;
  }
  if (library_notes_.size() < most_notes && library_notes_.insert(message.str()).second) {
    stream_ << "note: " << message << '\n';
  }
}

}  // namespace metalloid::frontend
