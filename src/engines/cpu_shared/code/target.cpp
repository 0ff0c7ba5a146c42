#include "engines/cpu_shared/code/target.h"

#include <fmt/format.h>

#include <cstdlib>

#include "metalloid/error.h"

namespace metalloid::engines::cpu {
namespace {

constexpr std::string_view checked = "checked", unchecked = "unchecked", usual = "usual ";

std::string mode() {
  const char* variable = std::getenv("METALLOID_BOUNDS");
  const bool is_off = variable && std::string_view(variable) == "off";
  return std::string(is_off ? unchecked : checked);
}

}  // namespace

std::string Target::text() const {
  return fmt::format("{} {}{}", checks_bounds ? checked : unchecked, is_usual ? usual : "", processor.text());
}

Target Target::from(std::string_view text) {
  const std::size_t space = text.find(' '), semicolon = text.find(';');
  const std::string_view mode = text.substr(0, space);
  if ((mode != checked && mode != unchecked) || semicolon == std::string_view::npos || semicolon < space) {
    throw Error(ErrorCode::internal, fmt::format("'{}' is no target of a CPU", text));
  }
  std::string_view name = text.substr(space + 1, semicolon - space - 1);
  const bool is_usual = name.starts_with(usual);
  if (is_usual) name.remove_prefix(usual.size());
  return {mode == checked, is_usual, {std::string(name), std::string(text.substr(semicolon + 1))}};
}

std::string target_for(const Hardware& hardware) { return fmt::format("{} {}", mode(), hardware.processor()); }

std::string usual_target_for(const Hardware& hardware) {
  return fmt::format("{} {}{}", mode(), usual, hardware.processor());
}

}  // namespace metalloid::engines::cpu
