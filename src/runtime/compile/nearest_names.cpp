#include "runtime/compile/nearest_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace metalloid::runtime {
namespace {

// Levenshtein's, with letters compared regardless of case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      bool equal = std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
      std::size_t substituted = diagonal + (equal ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_names(std::string_view wanted, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    std::size_t distance = edit_distance(wanted, name);
    bool contains = !wanted.empty() && name.find(wanted) != std::string::npos;
    if (contains || distance <= std::max<std::size_t>(2, std::min(wanted.size(), name.size()) / 3)) {
      ranked.emplace_back(distance, name);
    }
  }
  constexpr std::size_t shown = 3;
  if (!ranked.empty()) {
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text = "did you mean ";
    for (std::size_t i = 0; i < std::min(shown, ranked.size()); ++i) {
      text += fmt::format("{}'{}'", i ? " or " : "", ranked[i].second);
    }
    return text + "?";
  }
  std::string text = "there are ";
  constexpr std::size_t listed = 8;
  for (std::size_t i = 0; i < std::min(listed, names.size()); ++i)
    text += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  if (names.size() > listed) text += fmt::format(" and {} more", names.size() - listed);
  return text;
}

}  // namespace metalloid::runtime
