// Puts off the instantiation of kernels. Kernel libraries instantiate their templates thousands of times, and hosts
// want few of the results: what `template [[host_name("sum_half")]] [[kernel]] void sum<half>(...)` asks for is done at
// the end of the source, and only if somebody wants it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <clang/AST/Decl.h>
#include <clang/Sema/Sema.h>

#include "frontend/frontend.h"
#include "frontend/session/session.h"

namespace metalloid::frontend {

// Kernels that a library instantiates at once: with more, reading the source again takes less than they do.
inline constexpr std::size_t few_instantiations = 32;

// The name that hosts know a function by.
std::string host_name(const clang::FunctionDecl& function);

// Watches this thread's parsing for as long as it lives.
class KernelInstantiations {
 public:
  KernelInstantiations(Session& session, const KernelSelection& selection);
  ~KernelInstantiations();
  KernelInstantiations(const KernelInstantiations&) = delete;
  KernelInstantiations& operator=(const KernelInstantiations&) = delete;

  // From Sema. False if the function is to be instantiated at once.
  bool put_off(clang::SourceLocation place, clang::FunctionDecl& function);
  void reach_end(clang::Sema& sema);

  // Behind the end of the source. False if kernels are too many, or need too much, to instantiate all that nobody
  // named.
  bool is_done() const { return done_; }
  // True if code is wanted of the kernel.
  bool wants(const clang::FunctionDecl& function, const std::string& name) const;

 private:
  struct Instantiation {
    clang::SourceLocation place;
    clang::FunctionDecl* function;
  };
  std::size_t first_wanted() const;
  void instantiate(clang::Sema& sema, std::size_t first, std::size_t count);
  void instantiate_all_if_few(clang::Sema& sema);

  Session& session_;
  const KernelSelection& selection_;
  KernelInstantiations* outer_;
  std::vector<Instantiation> waiting_;
  std::set<const clang::FunctionDecl*> seen_;
  std::set<const clang::FunctionDecl*> wanted_;
  bool done_ = true;
};

}  // namespace metalloid::frontend
