// Findings as compilers write errors.
#include <fmt/format.h>

#include <llvm/Support/Unicode.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "checker/report/words.h"
#include "metalloid/check.h"
#include "metalloid/error.h"

namespace metalloid {
namespace {

using checker::length_of_character;
using checker::one_line;
using checker::words_of;
using checker::words_of_caller;

constexpr std::size_t widest_line = 120;  // columns of a source's line that are shown
constexpr std::size_t tab_columns = 8;
constexpr std::string_view gap = "...";

std::size_t columns_of(std::string_view text) {
  const int columns = llvm::sys::unicode::columnWidthUTF8(llvm::StringRef(text.data(), text.size()));
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

class TextWriter {
 public:
  explicit TextWriter(bool colour) : colour_(colour) {}

  void add(const Finding& finding) {
    // The last step found out.
    const FindingStep* main = finding.steps.empty() ? nullptr : &finding.steps.back();
    add_head(main, finding.kernel, name_of(finding.severity),
             fmt::format("{} [{}]", one_line(finding.message, 4000), name_of(finding.kind)));
    if (main) {
      add_lines(main->place);
      const std::string words = words_of(*main);
      if (!words.empty()) text_ += fmt::format("  {}\n", words);
      add_callers(main->place);
    }
    for (std::size_t i = 0; i + 1 < finding.steps.size(); ++i) add_note(finding.steps[i], finding.kernel);
    if (!finding.fix.empty()) text_ += fmt::format("  {}: {}\n", in(green, "fix"), one_line(finding.fix, 4000));
    add_tail(finding, main);
  }

  std::string take() { return std::move(text_); }

 private:
  static constexpr std::string_view bold = "1", red = "1;31", magenta = "1;35", cyan = "1;36", green = "1;32";

  std::string in(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }

  // "file:35:12", or as much of it as is known.
  static std::string place_text(const SourcePlace& place) {
    std::string text = one_line(place.file);
    if (place.line != 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", place.line);
    if (place.line != 0 && place.column != 0) text += fmt::format(":{}", place.column);
    return text;
  }

  void add_head(const FindingStep* step, std::string_view kernel, std::string_view severity, std::string_view message) {
    std::string place = step ? place_text(step->place) : std::string();
    if (place.empty()) place = kernel.empty() ? "metalloid" : fmt::format("kernel '{}'", one_line(kernel));
    const std::string_view colour = severity == "error" ? red : severity == "warning" ? magenta : cyan;
    text_ +=
        fmt::format("{} {} {}\n", in(bold, place + ":"), in(colour, fmt::format("{}:", severity)), in(bold, message));
  }

  void add_note(const FindingStep& step, std::string_view kernel) {
    const std::string words = words_of(step);
    add_head(&step, kernel, "note", words.empty() ? "and here" : words);
    add_lines(step.place);
    add_callers(step.place);
  }

  void add_callers(const SourcePlace& place) {
    const SourcePlace* inner = &place;
    for (const SourcePlace& caller : place.called_from) {
      const FindingStep step{"", caller, {}, ""};
      add_head(&step, "", "note", words_of_caller(*inner));
      add_lines(caller);
      add_callers(caller);
      inner = &caller;
    }
  }

  void add_tail(const Finding& finding, const FindingStep* main) {
    std::string tail;
    // Else it stands in the head.
    if (!finding.kernel.empty() && main && !place_text(main->place).empty()) {
      tail = fmt::format("in kernel '{}'", one_line(finding.kernel));
    }
    if (!finding.launch.empty())
      tail += fmt::format("{}launched by {}", tail.empty() ? "" : ", ", one_line(finding.launch));
    if (finding.count > 1) tail += fmt::format("{}seen {} times", tail.empty() ? "" : ", ", finding.count);
    if (!tail.empty()) text_ += fmt::format("  {}\n", tail);
  }

  // The source's line and the caret.
  void add_lines(const SourcePlace& place);

  bool colour_;
  std::string text_;
};

// A character, or the escape that stands for it.
struct Cell {
  std::string text;
  std::size_t columns;
};

// Part of a line, and where in it the caret stands.
struct ShownLine {
  std::vector<Cell> cells;
  std::size_t caret = 0;  // index of a cell; cells.size(): behind the last
  bool is_cut_before = false, is_cut_behind = false;
};

// The cells near the place: lines of minified or hostile sources have megabytes.
ShownLine cells_near(std::string_view line, std::size_t caret) {
  constexpr std::size_t near = 8 * widest_line;  // bytes
  ShownLine shown;
  std::size_t at = 0;
  if (caret > near) {
    at = caret - near;
    while (at < caret && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) ++at;
    shown.is_cut_before = true;
  }
  shown.caret = std::string_view::npos;
  std::size_t column = 0;
  while (at < line.size()) {
    if (at > caret + near) {
      shown.is_cut_behind = true;
      break;
    }
    const std::size_t length = length_of_character(line.substr(at));
    Cell cell;
    if (line[at] == '\t') {
      cell = {std::string(tab_columns - column % tab_columns, ' '), tab_columns - column % tab_columns};
    } else {
      cell.text = one_line(line.substr(at, length));
      cell.columns = columns_of(cell.text);
    }
    if (caret >= at && caret < at + length) shown.caret = shown.cells.size();
    column += cell.columns;
    shown.cells.push_back(std::move(cell));
    at += length;
  }
  shown.caret = std::min(shown.caret, shown.cells.size());
  return shown;
}

std::size_t columns_of(const std::vector<Cell>& cells) {
  return std::accumulate(cells.begin(), cells.end(), std::size_t{0},
                         [](std::size_t sum, const Cell& cell) { return sum + cell.columns; });
}

// Cuts it at both ends until it is narrow enough, the caret within.
void narrow(ShownLine& shown) {
  std::size_t total = columns_of(shown.cells), first = 0, end = shown.cells.size();
  if (total <= widest_line) return;
  std::size_t before = 0;  // columns in front of the caret
  for (std::size_t i = 0; i < shown.caret; ++i) before += shown.cells[i].columns;
  while (total > widest_line && first < end) {
    const bool cut_before = first < shown.caret && before > total / 2;
    if (cut_before) {
      before -= shown.cells[first].columns;
      total -= shown.cells[first++].columns;
    } else if (end > shown.caret + 1) {
      total -= shown.cells[--end].columns;
    } else if (first < shown.caret) {
      before -= shown.cells[first].columns;
      total -= shown.cells[first++].columns;
    } else {
      break;
    }
  }
  shown.is_cut_before |= first > 0;
  shown.is_cut_behind |= end < shown.cells.size();
  shown.cells = {shown.cells.begin() + static_cast<std::ptrdiff_t>(first),
                 shown.cells.begin() + static_cast<std::ptrdiff_t>(end)};
  shown.caret -= first;
}

void TextWriter::add_lines(const SourcePlace& place) {
  std::string_view line = place.text;
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || place.line == 0) return;
  const bool has_caret = place.column != 0 && place.column - 1 <= line.size();
  ShownLine shown = cells_near(line, has_caret ? place.column - 1 : 0);
  narrow(shown);
  std::string text(shown.is_cut_before ? gap : ""), space(text.size(), ' ');
  for (std::size_t i = 0; i < shown.cells.size(); ++i) {
    text += shown.cells[i].text;
    if (i < shown.caret) space.append(shown.cells[i].columns, ' ');
  }
  if (shown.is_cut_behind) text += gap;
  const std::string number = fmt::format("{:5}", place.line);
  text_ += fmt::format("{} | {}\n", number, text);
  if (has_caret) text_ += fmt::format("{} | {}{}\n", std::string(number.size(), ' '), space, in(green, "^"));
}

}  // namespace

std::string text_of(const Finding& finding, bool colour) {
  TextWriter writer(colour);
  writer.add(finding);
  return writer.take();
}

}  // namespace metalloid
