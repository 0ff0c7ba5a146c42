#include "runtime/cache/disk_cache.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "support/private_files.h"

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
  constexpr std::array names = {"libraries", "kernels", "assembled", "preludes", "tunings", "extensions"};
  return folder / names[static_cast<std::size_t>(kind)];
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;  // a folder that is missing or goes away has no files
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    files.push_back(entry->path());
  }
  return files;
}

std::vector<std::filesystem::path> files_of(EntryKind kind) {
  const auto where = folder();
  return where ? files_of(folder_of(*where, kind)) : std::vector<std::filesystem::path>();
}

// Bytes; nothing if there is no bound.
std::optional<std::uintmax_t> size_limit() {
  constexpr std::uintmax_t default_limit = 2048, unit = std::uintmax_t{1} << 20;
  const char* value = std::getenv("METALLOID_CACHE_SIZE");
  const std::string_view text = value ? value : "";
  std::uintmax_t limit = default_limit;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size()) limit = default_limit;
  if (limit == 0 || limit > UINTMAX_MAX / unit) return std::nullopt;
  return limit * unit;
}

// Files carry the time of their last use as their modification time (access times may be off). Other processes may add,
// use and remove files meanwhile: one that is gone was removed, and a reader of a removed file keeps what it opened.
void remove_least_recently_used(const std::filesystem::path& where, std::uintmax_t limit) {
  struct File {
    std::filesystem::file_time_type used;
    std::uintmax_t size;
    std::filesystem::path path;
  };
  std::vector<File> files;
  std::uintmax_t total = 0;
  std::error_code error;
  // Tunings stay: they are small, and cost minutes.
  for (const EntryKind kind :
       {EntryKind::library, EntryKind::kernel, EntryKind::assembled, EntryKind::prelude, EntryKind::extension}) {
    for (std::filesystem::path& path : files_of(folder_of(where, kind))) {
      File file{std::filesystem::last_write_time(path, error), 0, std::move(path)};
      if (!error) file.size = std::filesystem::file_size(file.path, error);
      if (error) continue;
      total += file.size;
      files.push_back(std::move(file));
    }
  }
  if (total <= limit) return;
  std::ranges::sort(files, {}, &File::used);
  // Some way below the bound, so that the next writes need not remove again.
  const std::uintmax_t target = limit - limit / 8;
  for (const File& file : files) {
    if (total <= target) break;
    std::filesystem::remove(file.path, error);
    total -= file.size;
  }
}

// Looks through the folder at this process's first write, and again when it has written a sixteenth of the bound.
void keep_within_limit(const std::filesystem::path& where, std::uintmax_t written) {
  static std::atomic<std::uintmax_t> unseen{0};  // bytes written since the last look
  static std::atomic<pid_t> looked_in{0};        // a forked process is a new one
  const auto limit = size_limit();
  const bool is_first = looked_in.exchange(::getpid()) != ::getpid();
  if (!limit || (unseen.fetch_add(written) + written < *limit / 16 && !is_first)) return;
  unseen = 0;
  remove_least_recently_used(where, *limit);
}

}  // namespace

std::optional<support::SharedBytes> read_cache_entry(EntryKind kind, const support::Hash& key) {
  const auto where = folder();
  if (!where) return std::nullopt;
  return support::read_private_file(folder_of(*where, kind), key);
}

void write_cache_entry(EntryKind kind, const support::Hash& key, std::string_view payload) {
  const auto where = folder();
  if (where && support::write_private_file(folder_of(*where, kind), key, payload)) {
    keep_within_limit(*where, payload.size());
  }
}

std::optional<std::filesystem::path> cache_folder(std::string_view name) {
  const auto where = folder();
  return where ? std::optional(*where / name) : std::nullopt;
}

std::vector<std::string> read_cache_entries(EntryKind kind) {
  std::vector<std::string> payloads;
  for (const std::filesystem::path& file : files_of(kind)) {
    const auto key = support::Hash::from_hex(file.filename().string());
    if (!key) continue;
    if (auto payload = support::read_private_file(file.parent_path(), *key)) payloads.emplace_back(payload->view());
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
