// Lines of sources, for reports and for comments that suppress findings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::checker {

// Finds lines by the names and numbers that debug locations give them: in the texts that were added, where #line
// directives count as they do for the compiler, and else in files.
class SourceLines {
 public:
  // `name`: as diagnostics show it.
  void add(const std::string& name, std::string_view text);
  // Without its end; empty if there is none of that number.
  std::string line(const std::string& file, std::uint32_t number);

 private:
  using Lines = std::map<std::uint32_t, std::string>;
  std::map<std::string, Lines> files_;
};

}  // namespace metalloid::checker
