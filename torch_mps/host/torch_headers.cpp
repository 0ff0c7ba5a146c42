#include "torch_headers.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace metalloid::torch_host {
namespace {

namespace fs = std::filesystem;

// Beside the library that torch's exceptions come from.
const fs::path& include_folder() {
  static const fs::path folder = [] {
    Dl_info info = {};
    dladdr(reinterpret_cast<const void*>(&c10::WarningUtils::get_warnAlways), &info);
    return info.dli_fname ? fs::weakly_canonical(fs::path(info.dli_fname).parent_path() / ".." / "include")
                          : fs::path();
  }();
  return folder;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [end, _] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

std::optional<std::string> text_of(const std::string& name) {
  if (include_folder().empty() || name.starts_with("c10/metal/") || name.starts_with("/")) return std::nullopt;
  std::error_code failed;
  const fs::path file = fs::weakly_canonical(include_folder() / name, failed);
  if (failed || !is_inside(file, include_folder()) || !fs::is_regular_file(file, failed)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<std::string> includes_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto skip = [&](std::string_view what) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      if (!line.starts_with(what)) return false;
      line.remove_prefix(what.size());
      return true;
    };
    if (!skip("#") || !skip("include")) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.size() < 2 || (line[0] != '<' && line[0] != '"')) continue;
    const std::size_t close = line.find(line[0] == '<' ? '>' : '"', 1);
    if (close != std::string_view::npos) names.emplace_back(line.substr(1, close - 1));
  }
  return names;
}

}  // namespace

std::map<std::string, std::string> torch_headers_included_by(const std::string& source) {
  std::map<std::string, std::string> found;
  std::vector<std::string> open = includes_in(source);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (found.contains(name)) continue;
    if (auto text = text_of(name)) {
      for (std::string& inner : includes_in(*text)) open.push_back(std::move(inner));
      found.emplace(name, std::move(*text));
    }
  }
  return found;
}

}  // namespace metalloid::torch_host
