#include "frontend/session/diagnostics.h"

#include <cstring>
#include <regex>
#include <utility>

#include <clang/AST/Decl.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/TextDiagnostic.h>

#include "frontend/files/library_places.h"
#include "frontend/files/missing_headers.h"
#include "metalloid/error.h"

namespace metalloid::frontend {
namespace {

// Bytes. Beyond them nobody reads on.
constexpr std::size_t most_text = std::size_t{256} << 10;
constexpr std::size_t most_message = std::size_t{8} << 10;
// As Clang's own limit, which counts errors that are not shown.
constexpr unsigned most_errors = 20;

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
  static const std::regex attribute("'annotate' attribute requires parameter [0-9]+ to be a constant expression");
  text = std::regex_replace(text, attribute, "the argument of an attribute must be a constant expression");
  static const std::regex copy("'this' argument to member function '__put_[a-z_]+' is an rvalue, .*ref-qualifier");
  return std::regex_replace(text, copy, "vector is not assignable (part of a swizzle, which is a copy)");
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

// Where the user's text includes the header of the library that `place` is in, however deep.
clang::FullSourceLoc first_include_by_user(const clang::SourceManager& sources, clang::SourceLocation place) {
  while (place.isValid() && is_in_library(sources, place)) {
    place = sources.getIncludeLoc(sources.getFileID(sources.getExpansionLoc(place)));
  }
  return place.isValid() ? clang::FullSourceLoc(place, sources) : clang::FullSourceLoc();
}

// Where the user's text uses a macro of the library or writes its argument; `place` itself outside of such macros. What
// the macro is made of is the library's own business.
clang::SourceLocation outside_library_macros(const clang::SourceManager& sources, clang::SourceLocation place) {
  for (clang::SourceLocation at = place; at.isMacroID(); at = sources.getImmediateMacroCallerLoc(at)) {
    const clang::SourceLocation definition = sources.getImmediateExpansionRange(at).getBegin();
    const clang::SourceLocation spelling = sources.getImmediateSpellingLoc(at);
    if (is_written_in_library(sources, spelling) || is_written_in_library(sources, definition)) {
      return sources.getFileLoc(place);
    }
  }
  return place;
}

bool is_about_library(const clang::Diagnostic& info) {
  return info.getLocation().isValid() && info.hasSourceManager() &&
         is_in_library(info.getSourceManager(), info.getLocation());
}

}  // namespace

Diagnostics::Diagnostics(clang::DiagnosticOptions& options, std::function<std::string(llvm::StringRef)> why_refused)
    : options_(options), why_refused_(std::move(why_refused)) {}

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
  if (text_.size() > most_text) return;
  llvm::SmallString<256> message;
  info.FormatDiagnostic(message);
  if (message.size() > most_message) message = llvm::StringRef(message).take_front(most_message).str() + "...";
  if (info.getID() == clang::diag::ext_pp_embed_directive) message = "invalid preprocessing directive '#embed'";
  const std::string text = with_vector_components(with_short_types(in_metals_words(message.str().str())));
  if (!is_note) library_notes_wanted_ = !is_about_construction_of_vector(text);
  if (!is_note) print_library_error_without_place();
  if (is_about_library(info) && level >= clang::DiagnosticsEngine::Error &&
      info.getSourceManager().getFileID(info.getLocation()) != info.getSourceManager().getMainFileID()) {
    library_error_ = what_a_library_error_says(text);
    library_include_ = first_include_by_user(info.getSourceManager(), info.getLocation());
  } else if (is_note && !library_error_.empty()) {
    if (is_about_library(info)) return;
    // "in instantiation of ... requested here": where the programmer caused it.
    library_error_has_place_ = true;
    print(clang::DiagnosticsEngine::Error, info, std::exchange(library_error_, {}));
  } else if (is_note && is_about_library(info)) {
    print_library_note(text);
  } else {
    print(level, info, text);
    const std::string header = header_that_declares(text, place_of(info));
    if (!header.empty() && missing_headers_.insert(header).second) {
      stream_ << "note: #include <" << header << "> declares it\n";
    }
  }
  if (info.getID() == clang::diag::err_pp_file_not_found) explain_missing_file(info);
}

void Diagnostics::explain_missing_file(const clang::Diagnostic& info) {
  std::string name;
  if (info.getArgKind(0) == clang::DiagnosticsEngine::ak_std_string) name = info.getArgStdStr(0);
  if (info.getArgKind(0) == clang::DiagnosticsEngine::ak_c_string) name = info.getArgCStr(0);
  const std::string reason = name.empty() ? name : why_refused_(name);
  if (!reason.empty()) stream_ << "note: " << reason << '\n';
}

void Diagnostics::print_library_error_without_place() {
  // Clang names the place once; more errors at the same place are the first one's consequences.
  if (!library_error_.empty() && !library_error_has_place_) {
    if (library_include_.isValid() && printer_) {
      printer_->emitDiagnostic(library_include_, clang::DiagnosticsEngine::Error, library_error_, {}, {});
    } else {
      stream_ << "error: " << library_error_ << '\n';
    }
  }
  library_error_.clear();
}

std::string Diagnostics::text() {
  print_library_error_without_place();
  std::string text = printable(text_);
  if (text_.size() > most_text) text += "note: more messages are left out\n";
  return text;
}

void Diagnostics::print(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info, llvm::StringRef message) {
  if (info.getLocation().isInvalid() || !printer_) {
    clang::TextDiagnostic::printDiagnosticLevel(stream_, level, /*ShowColors=*/false);
    clang::TextDiagnostic::printDiagnosticMessage(stream_, /*IsSupplemental=*/level == clang::DiagnosticsEngine::Note,
                                                  message, 0, 0,
                                                  /*ShowColors=*/false);
    return;
  }
  const clang::SourceLocation place = outside_library_macros(info.getSourceManager(), info.getLocation());
  const bool is_moved = place != info.getLocation();
  if (level >= clang::DiagnosticsEngine::Error) {
    drop_notes_ = is_moved && !shown_in_macros_.insert({place, message.str()}).second;
    if (drop_notes_) return;
    if (++shown_errors_ > most_errors) {
      if (shown_errors_ == most_errors + 1) stream_ << "fatal error: too many errors emitted, stopping now\n";
      drop_notes_ = true;
      return;
    }
  }
  // Beside lines whose numbers wrap, the printer would set billions of spaces: #line can say any number.
  constexpr unsigned last_line = 0x7fffffff;
  const unsigned line = info.getSourceManager().getPresumedLoc(place).getLine();
  const bool shows_source = options_.ShowCarets;
  options_.ShowCarets = shows_source && line <= last_line;
  using Ranges = llvm::ArrayRef<clang::CharSourceRange>;
  using Hints = llvm::ArrayRef<clang::FixItHint>;
  printer_->emitDiagnostic(clang::FullSourceLoc(place, info.getSourceManager()), level, message,
                           is_moved ? Ranges() : info.getRanges(), is_moved ? Hints() : info.getFixItHints());
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
