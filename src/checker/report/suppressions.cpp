#include "checker/report/suppressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "metalloid/error.h"
#include "support/files.h"

namespace metalloid {
namespace checker {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool bit_of(const Classes& classes, CheckClass kind) { return classes[static_cast<std::size_t>(kind)]; }

Classes classes_named(std::string_view name) {
  Classes classes;
  for (const CheckClass kind : check_classes_named(name == "*" ? "all" : name)) {
    classes.set(static_cast<std::size_t>(kind));
  }
  return classes;
}

// Nothing for a text that is no number, or none of a line.
std::optional<std::uint32_t> line_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

// In time that is at most the product of both lengths.
bool matches_part(std::string_view pattern, std::string_view part) {
  std::size_t p = 0, i = 0, star = std::string_view::npos, after_star = 0;
  while (i < part.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = i;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == part[i])) {
      ++p;
      ++i;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      i = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// The last part of a path, which is cut off, and whether it was the only one.
std::string_view take_last_part(std::string_view& path, bool& was_only) {
  const auto slash = path.rfind('/');
  was_only = slash == std::string_view::npos;
  const std::string_view part = was_only ? path : path.substr(slash + 1);
  path = was_only ? std::string_view() : path.substr(0, slash);
  return part;
}

bool is_part_of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

// "race, out-of-bounds because ..." -> both
Classes names_in(std::string_view list) {
  constexpr std::size_t most_names = 100;
  Classes classes;
  for (std::size_t i = 0; i < most_names; ++i) {
    list = trimmed(list);
    std::size_t length = 0;
    while (length < list.size() && is_part_of_name(list[length])) ++length;
    if (length == 0) return classes;
    try {
      classes |= classes_named(list.substr(0, length));
    } catch (const Error&) {  // a finding that is shown says the names
    }
    list = trimmed(list.substr(length));
    if (!list.starts_with(',')) return classes;
    list.remove_prefix(1);
  }
  return classes;
}

Classes allowed_by_comment(std::string_view comment) {
  constexpr std::string_view ours = "metalloid:", allow = "allow";
  comment = trimmed(comment);
  if (!comment.starts_with(ours)) return {};
  comment = trimmed(comment.substr(ours.size()));
  if (!comment.starts_with(allow) || comment.size() == allow.size()) return {};
  comment.remove_prefix(allow.size());
  if (blanks.find(comment.front()) == std::string_view::npos) return {};
  return names_in(comment);
}

// Goes over a line's code, texts and comments. What a comment of several lines that began earlier has in it is taken
// for code.
struct LineReader {
  Classes allowed;
  bool has_code = false;

  explicit LineReader(std::string_view line) {
    while (!line.empty()) {
      if (line.starts_with("//")) {
        line.remove_prefix(std::min(line.find_first_not_of("/!"), line.size()));  // also /// and //!
        allowed |= allowed_by_comment(line);
        return;
      }
      if (line.starts_with("/*")) {
        const auto end = line.find("*/", 2);
        allowed |= allowed_by_comment(line.substr(2, end == std::string_view::npos ? end : end - 2));
        line.remove_prefix(end == std::string_view::npos ? line.size() : end + 2);
        continue;
      }
      has_code |= blanks.find(line.front()) == std::string_view::npos;
      line.remove_prefix(line.front() == '"' || line.front() == '\'' ? length_of_text(line) : 1);
    }
  }

 private:
  // 1 if it does not end: the apostrophe of a number (1'000), or of a comment that began earlier.
  std::size_t length_of_text(std::string_view line) {
    bool& is_open = line.front() == '"' ? has_open_text_ : has_open_character_;
    for (std::size_t i = 1; i < line.size() && !is_open; ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == line.front()) {
        return i + 1;
      }
    }
    is_open = true;  // nor do those behind it: a line of apostrophes is read once
    return 1;
  }

  bool has_open_text_ = false, has_open_character_ = false;
};

}  // namespace

SuppressionPattern parse_suppression(std::string_view text) {
  const std::string_view whole = text = trimmed(text);
  SuppressionPattern pattern;
  const auto colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (name.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("suppression '{}': give CLASS, CLASS:FILE or CLASS:FILE:LINE", whole.substr(0, 200)));
  }
  pattern.classes = classes_named(name);
  if (colon == std::string_view::npos) return pattern;
  text.remove_prefix(colon + 1);
  const auto last = text.rfind(':');
  if (last != std::string_view::npos) {
    if (const auto line = line_number(text.substr(last + 1))) {
      pattern.line = *line;
      text = text.substr(0, last);
    }
  }
  if (text.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("suppression '{}': no file stands behind the class", whole.substr(0, 200)));
  }
  pattern.file = text;
  return pattern;
}

bool matches_path(std::string_view pattern, std::string_view path) {
  bool is_last_pattern = false, is_last_part = false;
  do {
    if (is_last_part) return false;  // the path is shorter
    const std::string_view wanted = take_last_part(pattern, is_last_pattern);
    const std::string_view part = take_last_part(path, is_last_part);
    if (!matches_part(wanted, part)) return false;
    // "/a" is a path whose first part is empty.
    if (is_last_pattern && wanted.empty()) return is_last_part;
  } while (!is_last_pattern);
  return true;
}

Classes allowed_by(std::string_view line) { return LineReader(line).allowed; }

Classes allowed_below(std::string_view line) {
  const LineReader reader(line);
  return reader.has_code ? Classes() : reader.allowed;
}

Suppressions::Suppressions(const CheckOptions& options) : comments_(options.comments_suppress) {
  for (const std::string& text : options.suppressions) patterns_.push_back(parse_suppression(text));
}

bool Suppressions::suppress_at(CheckClass kind, const SourcePlace& place, LineOf line_of) const {
  for (const SuppressionPattern& pattern : patterns_) {
    if (!bit_of(pattern.classes, kind) || pattern.file.empty()) continue;
    if ((pattern.line == 0 || pattern.line == place.line) && matches_path(pattern.file, place.file)) return true;
  }
  if (comments_ && place.line != 0) {
    const std::string line = place.text.empty() ? line_of(place.file, place.line) : place.text;
    if (bit_of(allowed_by(line), kind)) return true;
    if (place.line > 1 && bit_of(allowed_below(line_of(place.file, place.line - 1)), kind)) return true;
  }
  for (const SourcePlace& caller : place.called_from) {
    if (suppress_at(kind, caller, line_of)) return true;
  }
  return false;
}

bool Suppressions::suppress(const Finding& finding, LineOf line_of) const {
  for (const SuppressionPattern& pattern : patterns_) {
    if (pattern.file.empty() && bit_of(pattern.classes, finding.kind)) return true;
  }
  for (const FindingStep& step : finding.steps) {
    if (suppress_at(finding.kind, step.place, line_of)) return true;
  }
  return false;
}

}  // namespace checker

std::vector<std::string> read_suppressions(const std::filesystem::path& file) {
  constexpr std::size_t largest_file = std::size_t{16} << 20;
  const std::string text = support::read_file(file, largest_file);
  std::vector<std::string> patterns;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    // Names of files may have one inside.
    for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
      if (at != 0 && checker::blanks.find(line[at - 1]) == std::string_view::npos) continue;
      line = line.substr(0, at);
      break;
    }
    line = checker::trimmed(line);
    if (line.empty()) continue;
    try {
      static_cast<void>(checker::parse_suppression(line));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}:{}: {}", file.string(), number, error.what()));
    }
    patterns.emplace_back(line);
  }
  return patterns;
}

}  // namespace metalloid
