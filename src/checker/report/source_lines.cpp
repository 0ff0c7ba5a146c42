#include "checker/report/source_lines.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "metalloid/error.h"
#include "stdlib/headers.h"
#include "support/files.h"

namespace metalloid::checker {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20;

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// One of the headers that Metalloid brings, as debug locations name them; empty for others.
std::string_view own_header(std::string_view file) {
  const std::string_view folder = stdlib::folder;
  if (!file.starts_with(folder) || !file.substr(folder.size()).starts_with('/')) return {};
  const auto header = std::ranges::find(stdlib::headers(), file.substr(folder.size() + 1), &stdlib::Header::name);
  return header == stdlib::headers().end() ? std::string_view() : header->text;
}

struct LineDirective {
  std::uint32_t number = 0;
  std::optional<std::string> file;
};

// `#line 7`, `#line 7 "file"`, and the preprocessor's `# 7 "file"`.
std::optional<LineDirective> directive_of(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line = without_blanks(line.substr(1));
  if (line.starts_with("line")) line = without_blanks(line.substr(4));
  LineDirective directive;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), directive.number);
  if (error != std::errc()) return std::nullopt;
  line = without_blanks(line.substr(static_cast<std::size_t>(end - line.data())));
  if (!line.starts_with('"')) return directive;
  std::string file;
  for (std::size_t i = 1; i < line.size() && line[i] != '"'; ++i) {
    if (line[i] == '\\' && i + 1 < line.size()) ++i;
    file += line[i];
  }
  directive.file = std::move(file);
  return directive;
}

}  // namespace

void SourceLines::add(std::string name, std::shared_ptr<const std::string> text) {
  if (text) texts_.emplace_back(std::move(name), std::move(text));
}

void SourceLines::read(std::string file, std::string_view text) {
  std::uint32_t number = 1;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto directive = directive_of(line)) {
      number = directive->number;
      if (directive->file) file = std::move(*directive->file);
      continue;
    }
    files_[file].insert_or_assign(number++, std::string(line));
  }
}

std::string SourceLines::line(const std::string& file, std::uint32_t number) {
  if (file.empty() || number == 0) return {};
  for (auto& [name, text] : std::exchange(texts_, {})) read(name, *text);
  auto found = files_.find(file);
  if (found == files_.end()) {
    std::error_code error;
    std::string text(own_header(file));
    // Nothing that a read could wait for.
    if (text.empty() && std::filesystem::is_regular_file(file, error) && !error) {
      try {
        text = support::read_file(file, largest_file);
      } catch (const Error&) {  // then its lines are not known
      }
    }
    Lines lines;
    std::string_view rest = text;
    for (std::uint32_t n = 1; !rest.empty(); ++n) {
      const auto end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      lines.emplace(n, line);
    }
    found = files_.emplace(file, std::move(lines)).first;
  }
  const auto at = found->second.find(number);
  return at == found->second.end() ? std::string() : at->second;
}

}  // namespace metalloid::checker
