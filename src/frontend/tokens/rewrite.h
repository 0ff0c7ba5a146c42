// Turns the tokens of MSL into tokens that stock Clang parses. Locations survive, so diagnostics point into the
// user's text. One file per rewriting; run() is the list of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/DenseMap.h>

#include "frontend/tokens/token_list.h"

namespace metalloid::frontend::tokens {

// Marks member functions whose result lies in the address space of the object.
inline constexpr const char* own_space_annotation = "own_space";

// Of explicit instantiations, by the places of all their tokens: libraries have a hundred thousand of those.
class HostNames {
 public:
  void add(std::string name) { names_.push_back(std::move(name)); }
  // The last name stands at the place.
  void put(clang::SourceLocation place) { by_place_[place] = names_.size() - 1; }
  const std::string* find(clang::SourceLocation place) const {
    const auto found = by_place_.find(place);
    return found == by_place_.end() ? nullptr : &names_[found->second];
  }

 private:
  std::vector<std::string> names_;
  llvm::DenseMap<clang::SourceLocation, std::size_t> by_place_;
};

// A kernel by its name for hosts, and how many more behind it in the source.
struct WantedKernels {
  std::string first;
  std::uint32_t following = 0;
};

// What of a source is read; all unless it says otherwise.
struct Reading {
  std::optional<WantedKernels> wanted = {};  // these kernels, and what they need
  std::optional<std::size_t> instantiations =
      {};  // those of kernels only if they are at most so many, else their names
};

// An instantiation of a kernel that was not read.
struct NamedKernel {
  std::string host_name;
  clang::SourceLocation place;
};

class Rewriter {
 public:
  explicit Rewriter(clang::Preprocessor& preprocessor, Reading reading = {})
      : factory_(preprocessor), reading_(std::move(reading)) {}
  void run(TokenList& tokens);
  bool left_something_out() const { return left_something_out_; }
  std::vector<NamedKernel> take_named_kernels() { return std::move(named_kernels_); }
  HostNames take_instantiation_host_names() { return std::move(host_names_); }
  // Where a `*` or `&` stands in a type that says `thread`.
  std::set<clang::SourceLocation> take_thread_declarators() { return std::move(thread_declarators_); }

 private:
  TokenFactory factory_;
  Reading reading_;
  std::vector<NamedKernel> named_kernels_;
  bool left_something_out_ = false;
  HostNames host_names_;
  std::set<clang::SourceLocation> thread_declarators_;
};

std::set<clang::SourceLocation> find_thread_declarators(const TokenList& tokens);  // qualifiers.cpp

// Whether the user's text declares functions of metalloid/async_copy.h by their labels.
bool names_library_label(const TokenList& tokens, clang::Preprocessor& preprocessor);  // host_words.cpp
void reject_words_of_hosts(const TokenList& tokens, TokenFactory& factory);            // host_words.cpp

// False if the source has no such kernel, or is not understood: then all stays.
bool leave_out_unreached(TokenList& tokens, const WantedKernels& wanted, const TokenFactory& factory);  // unreached.cpp
// Those of kernels, if they are more than `most`. None if two have one name, or the source is not understood.
std::vector<NamedKernel> leave_out_instantiations(TokenList& tokens, std::size_t most,
                                                  const TokenFactory& factory);  // unreached.cpp

void remove_thread_qualifiers(TokenList& tokens);                                          // qualifiers.cpp
void expand_bfloat_literals(TokenList& tokens, TokenFactory& factory);                     // literals.cpp
void place_texts_in_constant_space(TokenList& tokens, TokenFactory& factory);              // texts.cpp
void merge_address_space_members(TokenList& tokens, TokenFactory& factory);                // members.cpp
void rewrite_variables(TokenList& tokens, TokenFactory& factory);                          // variables.cpp
void rewrite_program_arguments(TokenList& tokens, TokenFactory& factory);                  // program_scope.cpp
void rewrite_array_parameters(TokenList& tokens, TokenFactory& factory);                   // array_parameters.cpp
void rewrite_attributes(TokenList& tokens, TokenFactory& factory, HostNames& host_names);  // attributes.cpp
void name_address_spaces(TokenList& tokens, TokenFactory& factory);                        // qualifiers.cpp

}  // namespace metalloid::frontend::tokens
