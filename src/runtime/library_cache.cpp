#include "runtime/library_cache.h"

#include <cstdlib>
#include <stdexcept>

#include "frontend/frontend.h"
#include "frontend/prelude.h"
#include "metalloid/version.h"
#include "runtime/archive.h"
#include "runtime/compile_jobs.h"
#include "runtime/disk_cache.h"
#include "runtime/memory_cache.h"
#include "runtime/states.h"
#include "support/files.h"
#include "support/hash.h"

namespace metalloid::runtime {
namespace {

// A file that the source includes, and what it held then.
struct Dependency {
  std::string path;
  support::Hash content;
};

template <typename Archive>
void archive(Archive& bytes, Dependency& dependency) {
  archive_all(bytes, dependency.path, dependency.content);
}

// What both caches keep: all that is the same on every device.
struct Entry {
  std::vector<Dependency> dependencies;
  std::string bitcode;
  support::Hash content;
  LibraryInfo info;
  std::string warnings;
};

template <typename Archive>
void archive(Archive& bytes, Entry& entry) {
  std::uint64_t dependency_count = entry.dependencies.size();
  archive(bytes, dependency_count);
  if constexpr (Archive::reading) {
    if (dependency_count > bytes.left()) throw std::out_of_range("cache entry ends too early");
    entry.dependencies.resize(dependency_count);
  }
  for (Dependency& dependency : entry.dependencies) archive(bytes, dependency);
  archive_all(bytes, entry.bitcode, entry.content, entry.info, entry.warnings);
}

support::Hash key_of(std::string_view source, const CompileOptions& options) {
  support::Hasher hasher;
  hasher.add(version).add(frontend::stdlib_fingerprint()).add(source);
  hasher.add(options.language.major_version).add(options.language.minor_version).add(options.math_mode);
  hasher.add(options.warnings_as_errors).add(options.source_name);
  hasher.add(options.definitions.size());
  for (const auto& [name, value] : options.definitions) hasher.add(name).add(value);
  hasher.add(options.include_directories.size());
  for (const auto& folder : options.include_directories) {
    // A relative folder means another one elsewhere.
    std::error_code ignored;
    hasher.add(std::filesystem::absolute(folder, ignored).string());
  }
  hasher.add(options.headers.size());
  for (const auto& [path, text] : options.headers) hasher.add(path).add(text);
  return hasher.finish();
}

bool is_current(const Entry& entry) {
  for (const Dependency& dependency : entry.dependencies) {
    auto contents = support::try_read_file(dependency.path);
    if (!contents || support::hash_of(*contents) != dependency.content) return false;
  }
  return true;
}

MemoryCache<Entry>& memory_cache = *new MemoryCache<Entry>(64);

std::shared_ptr<const Entry> from_disk(const support::Hash& key) {
  auto bytes = read_cache_entry(EntryKind::library, key);
  if (!bytes) return nullptr;
  auto entry = std::make_shared<Entry>();
  try {
    Reader reader(bytes->view());
    archive(reader, *entry);
  } catch (const std::exception&) {
    return nullptr;
  }
  return entry;
}

std::shared_ptr<const Entry> compile(std::string_view source, const CompileOptions& options) {
  frontend::Result result = compile_library(source, options);
  auto entry = std::make_shared<Entry>();
  for (const auto& path : result.dependencies) {
    std::error_code ignored;
    std::string absolute = std::filesystem::absolute(path, ignored).string();
    entry->dependencies.push_back({absolute, support::hash_of(support::try_read_file(path).value_or(""))});
  }
  entry->bitcode = std::move(result.library.bitcode);
  entry->info = std::move(result.library.info);
  entry->warnings = std::move(result.library.warnings);
  Writer reflection;
  archive(reflection, entry->info);
  entry->content = support::Hasher().add(entry->bitcode).add(reflection.take()).finish();
  return entry;
}

std::shared_ptr<const Library::State> state_for(Device device, std::shared_ptr<const SourceText> source,
                                                const Entry& entry, bool from_cache) {
  auto state = std::make_shared<Library::State>();
  state->device = &device.state();
  state->bitcode = entry.bitcode;
  state->content = entry.content;
  state->info = entry.info;
  state->warnings = entry.warnings;
  state->from_cache = from_cache;
  state->source = std::move(source);
  return state;
}

}  // namespace

std::shared_ptr<const Library::State> find_or_compile_library(Device device, std::shared_ptr<const SourceText> source,
                                                              const CompileOptions& options) {
  // Headers from a developer's folder are no part of the key.
  bool cached = !frontend::stdlib_on_disk();
  support::Hash key = key_of(source->text, options);
  if (cached) {
    auto entry = memory_cache.find(key);
    if (entry && is_current(*entry)) return state_for(device, std::move(source), *entry, true);
    entry = from_disk(key);
    if (entry && is_current(*entry)) {
      memory_cache.insert(key, entry);
      return state_for(device, std::move(source), *entry, true);
    }
  }
  std::shared_ptr<const Entry> entry = compile(source->text, options);
  if (cached) {
    memory_cache.insert(key, entry);
    Writer writer;
    archive(writer, const_cast<Entry&>(*entry));  // writing changes nothing
    write_cache_entry(EntryKind::library, key, writer.take());
  }
  return state_for(device, std::move(source), *entry, false);
}

}  // namespace metalloid::runtime
