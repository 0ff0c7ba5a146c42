#include "support/nearest_names.h"

#include <fmt/format.h>

#include <llvm/ADT/StringRef.h>

#include <algorithm>
#include <utility>

namespace metalloid::support {
std::string nearest_names(std::string_view wanted, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    const std::size_t distance = llvm::StringRef(wanted).edit_distance_insensitive(name);
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

}  // namespace metalloid::support
