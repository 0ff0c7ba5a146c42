// `[[attribute(...)]]` becomes `__attribute__((annotate("metalloid.attribute", ...)))`, which Clang accepts in every
// place where Metal has its attributes, after `template` of an explicit instantiation among them. The words
// `kernel`, `vertex` and `fragment` before a function become annotations too.
//
// Clang accepts annotations in places where Metal takes no attribute of a function; those are errors here:
//
//   kernel void f(device float* x) [[max_total_threads_per_threadgroup(64)]] { ... }
//   kernel [[max_total_threads_per_threadgroup(64)]] void f(device float* x) { ... }
//
// The bounds of an array come before an annotation: `device float* rows [[id(0)]][3]`.

#include <llvm/ADT/StringSet.h>

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

// Attributes that Clang knows by itself, and means the same by.
bool is_clang_attribute(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"nodiscard",  "maybe_unused", "fallthrough", "noreturn",
                                          "deprecated", "likely",       "unlikely",    "no_unique_address",
                                          "clang",      "gnu",          "using"};
  return names.contains(name);
}

// Attributes whose argument is a constant expression; of others the text is kept.
bool takes_constant(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"buffer",
                                          "texture",
                                          "sampler",
                                          "threadgroup",
                                          "id",
                                          "max_total_threads_per_threadgroup",
                                          "required_threads_per_threadgroup",
                                          "host_name",
                                          "user_annotation",
                                          "attribute",
                                          "variable_function_constant"};
  return names.contains(name);
}

// Attributes of functions, which stand before the function's type.
bool is_function_attribute(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"max_total_threads_per_threadgroup", "required_threads_per_threadgroup",
                                          "host_name", "kernel", "visible"};
  return names.contains(name);
}

bool is_function_keyword(llvm::StringRef word) { return word == "kernel" || word == "vertex" || word == "fragment"; }

class AttributeRewriter {
 public:
  AttributeRewriter(TokenFactory& factory, HostNames& host_names) : factory_(factory), host_names_(host_names) {}

  // Rewrites the list that starts at tokens[index]; returns the index after it.
  std::size_t rewrite_list(const TokenList& tokens, std::size_t index, TokenList& out) {
    const std::size_t end = skip_attribute(tokens, index);
    if (is_clang_list(tokens, index)) {
      if (moved_lists_.erase(index) == 0) out.insert(out.end(), tokens.begin() + index, tokens.begin() + end);
      return end;
    }
    reject_misplaced(tokens, index, end);
    move_clang_lists(tokens, end, out);
    std::size_t after_bounds = end;
    while (after_bounds < tokens.size() && tokens[after_bounds].is(tok::l_square) &&
           !is_attribute_start(tokens, after_bounds)) {
      after_bounds = skip_balanced(tokens, after_bounds);
    }
    out.insert(out.end(), tokens.begin() + end, tokens.begin() + after_bounds);
    for (std::size_t i = index + 2; i + 2 < end;) {
      const Token& name = tokens[i];
      if (name.is(tok::comma)) {
        ++i;
        continue;
      }
      std::size_t after = i + 1;
      TokenList arguments;
      const std::string text = factory_.spelling(name);
      if (after < end && tokens[after].is(tok::l_paren)) {
        const std::size_t close = skip_balanced(tokens, after);
        arguments = argument_tokens(text, tokens, after + 1, close - 1);
        after = close;
      }
      if (text == "host_name") last_host_name_ = string_value(arguments);
      factory_.append_annotation(out, canonical(text), arguments, name.getLocation());
      i = after;
    }
    return after_bounds;
  }

  // Remembers the host_name for every token of the explicit instantiation in tokens[begin, end).
  void record_instantiation(const TokenList& tokens, std::size_t begin, std::size_t end) {
    if (last_host_name_.empty()) return;
    host_names_.add(last_host_name_);
    for (std::size_t i = begin; i < end; ++i) host_names_.put(tokens[i].getLocation());
  }
  void forget_host_name() { last_host_name_.clear(); }

 private:
  static bool is_clang_list(const TokenList& tokens, std::size_t index) {
    return index + 2 < skip_attribute(tokens, index) && is_clang_attribute(word(tokens[index + 2]));
  }

  // `x [[buffer(0)]] [[maybe_unused]]`: Clang wants its own lists in front of annotations.
  void move_clang_lists(const TokenList& tokens, std::size_t index, TokenList& out) {
    for (; is_attribute_start(tokens, index); index = skip_attribute(tokens, index)) {
      if (!is_clang_list(tokens, index) || !moved_lists_.insert(index).second) continue;
      out.insert(out.end(), tokens.begin() + index, tokens.begin() + skip_attribute(tokens, index));
    }
  }

  // Says what is wrong if the list at [index, end) holds attributes of a function in a place that is none for them.
  void reject_misplaced(const TokenList& tokens, std::size_t index, std::size_t end) {
    if (index == 0 || index + 2 >= end || !is_function_attribute(word(tokens[index + 2]))) return;
    if (is_function_keyword(word(tokens[index - 1]))) {
      factory_.error(tokens[index].getLocation(), "an attribute list cannot appear here");
      return;
    }
    std::size_t next = end;
    while (is_attribute_start(tokens, next)) next = skip_attribute(tokens, next);
    const bool after_parameters =
        tokens[index - 1].is(tok::r_paren) && next < tokens.size() && tokens[next].isOneOf(tok::l_brace, tok::semi);
    if (after_parameters || tokens[index - 1].is(tok::kw_void)) {
      factory_.error(tokens[index + 2].getLocation(), "'%0' attribute cannot be applied to types")
          << word(tokens[index + 2]);
    }
  }

  static std::string canonical(const std::string& name) {
    if (name == "thread_execution_width") return "threads_per_simdgroup";
    if (name == "function_constant") return "gate";
    if (name == "variable_function_constant") return "function_constant";
    return name;
  }

  // `, a, b` for constants; `, __metalloid_gate(a)` for the gate of an argument; `, "text"` for others.
  TokenList argument_tokens(const std::string& name, const TokenList& tokens, std::size_t begin, std::size_t end) {
    TokenList arguments;
    if (begin >= end) return arguments;
    const SourceLocation location = tokens[begin].getLocation();
    arguments.push_back(factory_.punctuator(tok::comma, location));
    if (takes_constant(name)) {
      arguments.insert(arguments.end(), tokens.begin() + begin, tokens.begin() + end);
    } else if (name == "function_constant") {
      for (std::size_t i = begin; i < end; i = tokens[i].is(tok::l_paren) ? skip_balanced(tokens, i) : i + 1) {
        if (tokens[i].is(tok::less)) break;  // perhaps of a template's arguments
        if (tokens[i].is(tok::comma)) factory_.error(location, "'%0' attribute takes one argument") << name;
      }
      arguments.push_back(factory_.identifier("__metalloid_gate", location));
      arguments.push_back(factory_.punctuator(tok::l_paren, location));
      arguments.insert(arguments.end(), tokens.begin() + begin, tokens.begin() + end);
      arguments.push_back(factory_.punctuator(tok::r_paren, location));
    } else {
      std::string text;
      for (std::size_t i = begin; i < end; ++i) text += factory_.spelling(tokens[i]);
      arguments.push_back(factory_.string(text, location));
    }
    return arguments;
  }

  std::string string_value(const TokenList& arguments) {
    std::string value;
    for (const Token& token : arguments) {
      if (token.isNot(tok::string_literal)) continue;
      const std::string text = factory_.spelling(token);
      value += text.substr(1, text.size() - 2);
    }
    return value;
  }

  TokenFactory& factory_;
  HostNames& host_names_;
  std::string last_host_name_;
  std::set<std::size_t> moved_lists_;  // where they stood
};

// `kernel` stands before a declaration, not inside an expression or after `::`, `.` or `->`.
bool starts_declaration(const TokenList& out) {
  if (out.empty()) return true;
  const Token& previous = out.back();
  return previous.isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::r_square, tok::r_paren, tok::greater,
                          tok::greatergreater, tok::kw_template, tok::kw_static, tok::kw_inline, tok::kw_extern,
                          tok::kw_void, tok::string_literal) ||
         previous.isAnnotation();
}

}  // namespace

void rewrite_attributes(TokenList& tokens, TokenFactory& factory, HostNames& host_names) {
  AttributeRewriter rewriter(factory, host_names);
  TokenList out;
  out.reserve(tokens.size() + tokens.size() / 8);
  int parentheses = 0;
  std::size_t instantiation_start = 0;  // index of the explicit instantiation being read, 0 if none
  for (std::size_t i = 0; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.is(tok::l_paren)) ++parentheses;
    if (token.is(tok::r_paren)) --parentheses;
    if (token.is(tok::kw_template) && i + 1 < tokens.size() && tokens[i + 1].isNot(tok::less) && parentheses == 0) {
      instantiation_start = i;
      rewriter.forget_host_name();
    }
    if (token.is(tok::semi) && instantiation_start != 0) {
      rewriter.record_instantiation(tokens, instantiation_start, i);
      instantiation_start = 0;
    }
    if (is_attribute_start(tokens, i)) {
      i = rewriter.rewrite_list(tokens, i, out);
      continue;
    }
    const llvm::StringRef text = word(token);
    if (parentheses == 0 && is_function_keyword(text) && starts_declaration(out) && i + 1 < tokens.size() &&
        !tokens[i + 1].isOneOf(tok::equal, tok::period, tok::arrow, tok::l_paren, tok::comma)) {
      factory.append_annotation(out, text, {}, token.getLocation());
      ++i;
      continue;
    }
    out.push_back(token);
    ++i;
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
