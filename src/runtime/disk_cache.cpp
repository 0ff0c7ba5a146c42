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

std::filesystem::path folder_of(const std::filesystem::path& folder, EntryKind kind) {
  constexpr std::array names = {"libraries", "kernels", "preludes", "tunings"};
  return folder / names[static_cast<std::size_t>(kind)];
}

std::filesystem::path file_of(const std::filesystem::path& folder, EntryKind kind, const support::Hash& key) {
  return folder_of(folder, kind) / key.hex();
}

std::vector<std::filesystem::path> files_of(EntryKind kind) {
  std::vector<std::filesystem::path> files;
  std::error_code error;  // a folder that is missing or goes away has no files
  if (auto where = folder()) {
    std::filesystem::directory_iterator entry(folder_of(*where, kind), error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      files.push_back(entry->path());
    }
  }
  return files;
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

std::vector<std::string> read_cache_entries(EntryKind kind) {
  std::vector<std::string> payloads;
  for (const std::filesystem::path& file : files_of(kind)) {
    if (auto payload = support::read_checked_file(file)) payloads.push_back(std::move(*payload));
  }
  return payloads;
}

std::size_t remove_cache_entries(EntryKind kind) {
  std::size_t count = 0;
  std::error_code error;
  for (const std::filesystem::path& file : files_of(kind)) count += std::filesystem::remove(file, error) ? 1 : 0;
  return count;
}

}  // namespace metalloid::runtime
