// Findings that the user does not want to see.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/check.h"
#include "support/function_ref.h"

namespace metalloid::checker {

using Classes = std::bitset<check_class_count>;

// A line of a source file, from 1; empty if it is not known.
using LineOf = support::function_ref<std::string(const std::string& file, std::uint32_t number)>;

// "CLASS", "CLASS:FILE" or "CLASS:FILE:LINE"; CLASS may be "race", "all" and "*".
struct SuppressionPattern {
  Classes classes;
  std::string file;        // empty: any
  std::uint32_t line = 0;  // 0: any
};
// Throws invalid_argument.
SuppressionPattern parse_suppression(std::string_view text);

// Whether the last parts of a path are those of the pattern, in which * stands for anything in a part and ? for one
// character. A pattern that begins with / is a whole path.
bool matches_path(std::string_view pattern, std::string_view path);

// What the comments of a line allow: `// metalloid: allow race, out-of-bounds`. Names that are none allow nothing.
Classes allowed_by(std::string_view line);
// The same for a line that has nothing but comments: it speaks of the next one.
Classes allowed_below(std::string_view line);

class Suppressions {
 public:
  // Throws invalid_argument for a pattern that is none.
  explicit Suppressions(const CheckOptions& options);
  // Of each of the finding's places, and those that called them. `line_of` is asked for lines that the finding does
  // not have itself.
  bool suppress(const Finding& finding, LineOf line_of) const;

 private:
  bool suppress_at(CheckClass kind, const SourcePlace& place, LineOf line_of) const;

  std::vector<SuppressionPattern> patterns_;
  bool comments_;
};

}  // namespace metalloid::checker
