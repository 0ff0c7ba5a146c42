// Leaves out what the kernels that are asked for do not reach:
//
//   template [[host_name("sum_half")]] [[kernel]] decltype(sum<half>) sum<half>;   // other kernels
//   kernel void product(...) {...}
//   template <typename T> T multiply(T left, T right) {...}                        // and what only they name
//
// The source was read before, when its library was made, and what is wrong with its templates was said. Reading all of
// it takes several times as long as the one kernel.
//
// 1. The wanted kernels are reached, and all that does not wait for a name: operators, arguments at program scope,
//    function constants, and functions of names that the standard library knows too, whose templates may find them by
//    their arguments' types.
// 2. What is reached reaches whatever declares a name in its tokens, in any scope: overloads and specialisations, too.
// 3. The rest is left out. Nothing that stays names it, so all names keep their meaning.
//
// Names are told from tokens alone. Where that goes wrong, Clang does not find one, and the whole source is read.
//
// When a library is made of a source with many instantiations of kernels, these alone are left out, but for their
// names: Clang takes 0.1 ms for each.

#include <algorithm>
#include <map>

#include <llvm/ADT/StringSet.h>

#include "frontend/tokens/declarations.h"
#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {
namespace {

using namespace clang;

// Whether the kernel is known to hosts by `wanted`, which may say its namespace.
bool is_named(const ScopeDeclaration& kernel, llvm::StringRef wanted) {
  if (kernel.host_name) return *kernel.host_name == wanted;
  return std::any_of(kernel.names.begin(), kernel.names.end(), [&](const IdentifierInfo* name) {
    return wanted == name->getName() || wanted.ends_with("::" + name->getName().str());
  });
}

// Whether it is of use to what names it only.
bool waits_for_name(const ScopeDeclaration& declaration) {
  if (declaration.is_check) return true;
  if (declaration.is_instantiation) return declaration.host_name && !declaration.host_name->empty();
  if (declaration.is_kernel && !declaration.names.empty()) return true;  // only hosts run it
  const auto is_asked_for_unnamed = [](const IdentifierInfo* name) {
    // by the library, range-based loops, and structured bindings
    return name->isFromAST() || name->isStr("begin") || name->isStr("end") || name->isStr("get") ||
           name->isStr("tuple_size") || name->isStr("tuple_element");
  };
  return !declaration.names.empty() &&
         std::none_of(declaration.names.begin(), declaration.names.end(), is_asked_for_unnamed);
}

class Reach {
 public:
  Reach(const TokenList& tokens, const std::vector<ScopeDeclaration>& declarations)
      : tokens_(tokens), declarations_(declarations), reached_(declarations.size()) {
    for (std::size_t i = 0; i < declarations.size(); ++i) {
      for (const IdentifierInfo* name : declarations[i].names) by_name_[name].push_back(i);
    }
  }

  void add(std::size_t declaration) {
    if (reached_[declaration]) return;
    reached_[declaration] = true;
    open_.push_back(declaration);
  }

  std::vector<bool> follow() {
    while (!open_.empty()) {
      const ScopeDeclaration& declaration = declarations_[open_.back()];
      open_.pop_back();
      for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
        const Token& token = tokens_[i];
        if (token.isAnnotation() || token.isLiteral() || !token.getIdentifierInfo()) continue;
        const auto named = by_name_.find(token.getIdentifierInfo());
        if (named == by_name_.end()) continue;
        for (const std::size_t other : named->second) add(other);
        by_name_.erase(named);
      }
    }
    return std::move(reached_);
  }

 private:
  const TokenList& tokens_;
  const std::vector<ScopeDeclaration>& declarations_;
  std::map<const IdentifierInfo*, std::vector<std::size_t>> by_name_;
  std::vector<bool> reached_;
  std::vector<std::size_t> open_;
};

// Of the declarations those that are `kept`, and all that is between them.
void keep(TokenList& tokens, const std::vector<ScopeDeclaration>& declarations, const std::vector<bool>& kept) {
  TokenList out;
  out.reserve(tokens.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    if (kept[i]) continue;
    out.insert(out.end(), tokens.begin() + static_cast<std::ptrdiff_t>(next),
               tokens.begin() + static_cast<std::ptrdiff_t>(declarations[i].begin));
    next = declarations[i].end;
  }
  out.insert(out.end(), tokens.begin() + static_cast<std::ptrdiff_t>(next), tokens.end());
  tokens = std::move(out);
}

}  // namespace

bool leave_out_unreached(TokenList& tokens, const WantedKernels& wanted, const TokenFactory& factory) {
  const auto declarations = find_declarations(tokens, factory);
  if (!declarations) return false;
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < declarations->size(); ++i) {
    if ((*declarations)[i].is_kernel) kernels.push_back(i);
  }
  const auto first = std::find_if(kernels.begin(), kernels.end(),
                                  [&](std::size_t i) { return is_named((*declarations)[i], wanted.first); });
  if (first == kernels.end()) return false;

  Reach reach(tokens, *declarations);
  std::rotate(kernels.begin(), first, kernels.end());
  for (std::size_t i = 0; i < kernels.size() && i <= wanted.following; ++i) reach.add(kernels[i]);
  for (std::size_t i = 0; i < declarations->size(); ++i) {
    if (!waits_for_name((*declarations)[i])) reach.add(i);
  }
  const std::vector<bool> reached = reach.follow();
  keep(tokens, *declarations, reached);
  return true;
}

std::vector<NamedKernel> leave_out_instantiations(TokenList& tokens, std::size_t most, const TokenFactory& factory) {
  const auto declarations = find_declarations(tokens, factory);
  if (!declarations) return {};
  std::vector<NamedKernel> left_out;
  std::vector<bool> kept(declarations->size(), true);
  llvm::StringSet<> names;
  for (std::size_t i = 0; i < declarations->size(); ++i) {
    const ScopeDeclaration& declaration = (*declarations)[i];
    if (!declaration.is_instantiation || !waits_for_name(declaration)) continue;
    if (!names.insert(*declaration.host_name).second) return {};
    left_out.push_back({*declaration.host_name, tokens[declaration.begin].getLocation()});
    kept[i] = false;
  }
  if (left_out.size() <= most) return {};
  keep(tokens, *declarations, kept);
  return left_out;
}

}  // namespace metalloid::frontend::tokens
