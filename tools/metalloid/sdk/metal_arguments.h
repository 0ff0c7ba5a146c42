// The arguments of `metal`, Apple's compiler driver for Metal sources.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metalloid/preprocess.h"
#include "options.h"

namespace metalloid::tool::sdk {

enum class MetalWish : std::uint8_t { link, compile, preprocess, dependencies, version, check };

struct MetalSettings {
  MetalWish wish = MetalWish::link;
  std::vector<std::string> inputs;
  std::string output;
  CompilerFlags flags;
  std::vector<std::string> includes;  // -include
  bool is_quiet = false;              // -w
  bool lists_includes = false;        // -H
  PreprocessOptions preprocess;
  bool writes_dependencies = false, names_all = false;  // -MD or -MMD, -MP
  std::string dependency_file, dependency_target;
};

// Throws UsageError for what it does not know.
MetalSettings metal_settings(const std::vector<std::string>& all);

}  // namespace metalloid::tool::sdk
