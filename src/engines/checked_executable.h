// Kernels that were compiled with checks: what only engines with a CheckRole, and who runs the checker, know.
#pragma once

#include "engines/engine.h"

namespace metalloid::checker {
class ScreenedDispatch;
class Watch;
}  // namespace metalloid::checker

namespace metalloid::engines {

// What Engine::load returns for them, if the engine has that role.
class CheckedExecutable : public Executable {
 public:
  using Executable::run;
  // Of CheckRole::tells.
  virtual void run(const DispatchPlan& plan, checker::Watch& watch) const = 0;
  // Of CheckRole::screens. Throws unsupported if the dispatch is not to be screened.
  virtual void run(const DispatchPlan& plan, checker::ScreenedDispatch& screen) const = 0;
};

}  // namespace metalloid::engines
