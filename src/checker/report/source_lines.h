// Lines of sources, for reports and for comments that suppress findings.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metalloid::checker {

// Finds lines by the names and numbers that debug locations give them: in the texts that were added, where #line
// directives count as they do for the compiler, in Metalloid's own headers, and else in files.
class SourceLines {
 public:
  // `name`: as diagnostics show it. The text is read when a line is asked for.
  void add(std::string name, std::shared_ptr<const std::string> text);
  // Without its end; empty if there is none of that number.
  std::string line(const std::string& file, std::uint32_t number);

 private:
  using Lines = std::map<std::uint32_t, std::string>;
  void read(std::string file, std::string_view text);

  std::vector<std::pair<std::string, std::shared_ptr<const std::string>>> texts_;  // that nobody has read yet
  std::map<std::string, Lines> files_;
};

}  // namespace metalloid::checker
