// A dispatch that is checked, and waits for its turn with all that it needs.
#pragma once

#include <vector>

#include "engines/engine.h"
#include "metalloid/device.h"
#include "metalloid/dispatch.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

struct CompiledKernel;

struct PlannedDispatch {
  // Throws what plan_dispatch throws.
  PlannedDispatch(Kernel of, Dispatch with);
  PlannedDispatch(const PlannedDispatch&) = delete;
  PlannedDispatch& operator=(const PlannedDispatch&) = delete;

  // The buffers that it keeps.
  void add_memory(std::vector<Buffer>& memory) const;

  const Kernel kernel;
  const Dispatch dispatch;
  const engines::DispatchPlan plan;        // which points into the others
  const CompiledKernel* const ready;       // code_at_once
  const engines::Hardware* const at_once;  // its hardware
};

}  // namespace metalloid::runtime
