// What CPU engines compile for, in the words of Engine::target_for.
#pragma once

#include <string>
#include <string_view>

#include "engines/cpu_shared/code/machine.h"
#include "engines/hardware.h"

namespace metalloid::engines::cpu {

struct Target {
  bool checks_bounds = true;  // accesses (passes/check_bounds.h)
  bool is_usual = false;      // Engine::usual_target_for
  Processor processor;

  // "checked znver4;+avx2,+fma", "checked usual znver4;..."
  std::string text() const;
  // Throws internal for what is no such text.
  static Target from(std::string_view text);
};

// With METALLOID_BOUNDS=off without checks.
std::string target_for(const Hardware& hardware);
std::string usual_target_for(const Hardware& hardware);

}  // namespace metalloid::engines::cpu
