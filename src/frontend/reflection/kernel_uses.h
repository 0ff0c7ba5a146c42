// Where a source calls a kernel or takes its address, which Metal allows hosts only. Clang says of a function that it
// is used, but not where, and not by which template; so its expressions are watched while they are made.
#pragma once

#include <utility>
#include <vector>

#include "frontend/session/session.h"

namespace metalloid::frontend {

// Watches this thread's parsing for as long as it lives.
class KernelUses {
 public:
  KernelUses();
  ~KernelUses();
  KernelUses(const KernelUses&) = delete;
  KernelUses& operator=(const KernelUses&) = delete;

  void add(const clang::FunctionDecl& function, clang::SourceLocation place);

  // Reports every use of a kernel through the session's diagnostics.
  void check(Session& session) const;

 private:
  KernelUses* outer_;
  std::vector<std::pair<const clang::FunctionDecl*, clang::SourceLocation>> uses_;
};

}  // namespace metalloid::frontend
