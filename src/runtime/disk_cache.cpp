#include "runtime/disk_cache.h"

#include <array>
#include <cstdlib>
#include <filesystem>

#include "support/files.h"

namespace metalloid::runtime {
namespace {

// Read anew each time: hosts and tests change the environment.
std::optional<std::filesystem::path> folder() {
  auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (variable("METALLOID_CACHE") == "0") return std::nullopt;
  if (auto chosen = variable("METALLOID_CACHE_DIR"); !chosen.empty()) return std::filesystem::path(chosen);
  if (auto xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return std::filesystem::path(xdg) / "metalloid";
  if (auto home = variable("HOME"); !home.empty()) return std::filesystem::path(home) / ".cache" / "metalloid";
  return std::nullopt;
}

std::filesystem::path file_of(const std::filesystem::path& folder, EntryKind kind, const support::Hash& key) {
  constexpr std::array names = {"libraries", "kernels", "preludes"};
  return folder / names[static_cast<std::size_t>(kind)] / key.hex();
}

}  // namespace

std::optional<std::string> read_cache_entry(EntryKind kind, const support::Hash& key) {
  auto where = folder();
  if (!where) return std::nullopt;
  return support::read_checked_file(file_of(*where, kind, key));
}

void write_cache_entry(EntryKind kind, const support::Hash& key, std::string_view payload) {
  if (auto where = folder()) support::write_checked_file(file_of(*where, kind, key), payload);
}

}  // namespace metalloid::runtime
