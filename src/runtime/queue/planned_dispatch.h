// A dispatch that is checked, and waits for its turn with all that it needs.
#pragma once

#include "engines/engine.h"
#include "metalloid/dispatch.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

struct PlannedDispatch {
  // Throws what plan_dispatch throws.
  PlannedDispatch(Kernel of, Dispatch with);
  PlannedDispatch(const PlannedDispatch&) = delete;
  PlannedDispatch& operator=(const PlannedDispatch&) = delete;

  const Kernel kernel;
  const Dispatch dispatch;
  const engines::DispatchPlan plan;        // which points into the others
  const engines::Hardware* const at_once;  // hardware_at_once
};

}  // namespace metalloid::runtime
