#include "runtime/compile/library_cache.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>

#include "frontend/frontend.h"
#include "frontend/session/prelude.h"
#include "metalloid/error.h"
#include "metalloid/version.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/entry_turn.h"
#include "runtime/cache/memory_cache.h"
#include "runtime/compile/archive.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/request_archive.h"
#include "runtime/states.h"
#include "support/fork_safe_mutex.h"
#include "support/hash.h"

namespace metalloid::runtime {
namespace {

// What both caches keep: all that is the same on every device.
struct Entry {
  std::vector<frontend::Dependency> dependencies;
  std::string bitcode;
  support::Hash content;
  LibraryInfo info;
  std::string warnings;
  bool is_complete = true;
  std::chrono::microseconds processor_time{};  // none once it is on disk
};

template <typename Archive>
void archive(Archive& bytes, Entry& entry) {
  std::uint64_t dependency_count = entry.dependencies.size();
  archive(bytes, dependency_count);
  if constexpr (Archive::reading) {
    if (dependency_count > bytes.left()) throw std::out_of_range("cache entry ends too early");
    entry.dependencies.resize(dependency_count);
  }
  for (frontend::Dependency& dependency : entry.dependencies) archive(bytes, dependency);
  archive_all(bytes, entry.bitcode, entry.content, entry.info, entry.warnings, entry.is_complete);
}

support::Hash key_of(std::string_view source, const CompileOptions& options) {
  support::Hasher hasher;
  hasher.add(version).add(frontend::stdlib_fingerprint()).add(source);
  hasher.add(options.language.major_version).add(options.language.minor_version).add(options.math_mode);
  hasher.add(options.warnings_as_errors).add(options.source_name).add(options.thread_overruns);
  hasher.add(options.definitions.size());
  for (const auto& [name, value] : options.definitions) hasher.add(name).add(value);
  hasher.add(options.include_directories.size());
  for (const auto& folder : options.include_directories) {
    // A relative folder means another one elsewhere.
    std::error_code ignored;
    hasher.add(std::filesystem::absolute(folder, ignored).string());
  }
  std::error_code ignored;
  hasher.add(options.source_file.empty() ? "" : std::filesystem::absolute(options.source_file, ignored).string());
  hasher.add(options.headers.size());
  for (const auto& [path, text] : options.headers) hasher.add(path).add(text);
  hasher.add(options.files.size());
  for (const auto& [path, text] : options.files) hasher.add(path).add(text);
  return hasher.finish();
}

MemoryCache<Entry>& loaded_libraries = *new MemoryCache<Entry>(64);

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

std::shared_ptr<const Entry> compile(std::string_view source, const CompileOptions& options,
                                     const frontend::KernelSelection& selection,
                                     const isolation::CompileLimits& limits) {
  frontend::Result result = compile_library(source, options, selection, limits);
  auto entry = std::make_shared<Entry>();
  entry->dependencies = std::move(result.dependencies);
  entry->bitcode = std::move(result.library.bitcode);
  entry->info = std::move(result.library.info);
  entry->warnings = std::move(result.library.warnings);
  entry->is_complete = result.is_complete;
  entry->processor_time = std::chrono::microseconds(result.processor_time);
  Writer reflection;
  archive(reflection, entry->info);
  entry->content = support::Hasher().add(entry->bitcode).add(reflection.take()).finish();
  return entry;
}

// What was read besides the source.
support::Hash inputs_of(const support::Hash& key, const Entry& entry) {
  std::map<std::string, support::Hash> files;  // the front end names them in any order
  for (const frontend::Dependency& dependency : entry.dependencies)
    files.try_emplace(dependency.path, dependency.content);
  support::Hasher hasher;
  hasher.add(key);
  for (const auto& [path, content] : files) hasher.add(path).add(content);
  return hasher.finish();
}

struct FoundLibrary {
  std::shared_ptr<const Entry> entry;
  bool from_cache;
};

FoundLibrary find_or_compile_library(const support::Hash& key, std::string_view source, const CompileOptions& options,
                                     const frontend::KernelSelection& selection,
                                     const isolation::CompileLimits& limits) {
  // Headers from a developer's folder are no part of the key.
  const bool cached = !frontend::stdlib_on_disk();
  std::optional<EntryTurn> turn;
  if (cached) {
    auto entry = loaded_libraries.find(key);
    if (entry && frontend::are_current(entry->dependencies, options)) return {entry, true};
    entry = read_or_take_turn(turn, EntryKind::library, key, [&] {
      auto read = from_disk(key);
      return read && frontend::are_current(read->dependencies, options) ? read : nullptr;
    });
    if (entry) {
      loaded_libraries.insert(key, entry);
      return {entry, true};
    }
  }
  std::shared_ptr<const Entry> entry = compile(source, options, selection, limits);
  if (cached) {
    loaded_libraries.insert(key, entry);
    Writer writer;
    archive(writer, const_cast<Entry&>(*entry));  // writing changes nothing
    write_cache_entry(EntryKind::library, key, writer.take());
  }
  return {entry, false};
}

LibraryCode code_of(const std::shared_ptr<const Entry>& entry) { return {entry, entry->bitcode, &entry->info}; }

bool has_code(const LibraryInfo& info, const std::string& kernel) {
  return std::ranges::any_of(info.kernels,
                             [&](const KernelInfo& each) { return each.name == kernel && !each.symbol.empty(); });
}

}  // namespace

// The code of a library that instantiates many kernels. Each part brings four times as many as the one before, so that
// a host that wants all of them reads the source a few times only.
class LibraryParts {
 public:
  LibraryParts(std::shared_ptr<const SourceText> source, CompileOptions options, const support::Hash& key,
               const support::Hash& inputs)
      : source_(std::move(source)), options_(std::move(options)), key_(key), inputs_(inputs) {}

  std::shared_ptr<const Entry> with(const std::string& kernel, const isolation::CompileLimits& limits) {
    std::uint32_t following = 0;
    {
      const std::lock_guard lock(mutex_);
      if (whole_) return whole_;
      for (const auto& part : parts_) {
        if (has_code(part->info, kernel)) return part;
      }
      if (parts_.size() >= most_parts) following = UINT32_MAX;
      for (std::size_t i = 0; i < parts_.size() && following != UINT32_MAX; ++i) following = 4 * following + 12;
    }
    if (following == UINT32_MAX) return whole(limits);
    const support::Hash key = support::Hasher().add(key_).add(kernel).add(following).finish();
    auto part = make(key, {frontend::KernelSelection::Kind::some, kernel, following}, limits);
    const std::lock_guard lock(mutex_);
    parts_.push_back(part);
    return part;
  }

  std::shared_ptr<const Entry> whole(const isolation::CompileLimits& limits) {
    {
      const std::lock_guard lock(mutex_);
      if (whole_) return whole_;
    }
    auto made = make(support::Hasher().add(key_).finish(), {}, limits);
    const std::lock_guard lock(mutex_);
    if (!whole_) whole_ = std::move(made);
    return whole_;
  }

 private:
  static constexpr std::size_t most_parts = 5;

  std::shared_ptr<const Entry> make(const support::Hash& key, const frontend::KernelSelection& selection,
                                    const isolation::CompileLimits& limits) {
    auto entry = find_or_compile_library(key, source_->text, options_, selection, limits).entry;
    if (inputs_of(key_, *entry) == inputs_) return entry;
    throw Error(ErrorCode::compile_error,
                options_.source_name +
                    ": error: a file that it includes has changed since the library was made, and a "
                    "kernel that is asked for only now would be of another source: make the library "
                    "again\n");
  }

  const std::shared_ptr<const SourceText> source_;
  const CompileOptions options_;
  const support::Hash key_, inputs_;
  mutable support::ForkSafeMutex mutex_;
  std::vector<std::shared_ptr<const Entry>> parts_;
  std::shared_ptr<const Entry> whole_;
};

isolation::CompileLimits limits_of(const Library::State& library) {
  return isolation::CompileLimits::from_environment(library.making_time);
}

LibraryCode code_with(const Library::State& library, const std::string& kernel,
                      const isolation::CompileLimits& limits) {
  if (!library.parts) return {nullptr, library.bitcode, &library.info};
  return code_of(library.parts->with(kernel, limits));
}

LibraryCode whole_code(const Library::State& library) {
  if (!library.parts) return {nullptr, library.bitcode, &library.info};
  return code_of(library.parts->whole(limits_of(library)));
}

std::shared_ptr<const Library::State> find_or_compile_library(Device device, std::shared_ptr<const SourceText> source,
                                                              const CompileOptions& options) {
  const support::Hash key = key_of(source->text, options);
  const auto [entry, from_cache] =
      find_or_compile_library(key, source->text, options, {frontend::KernelSelection::Kind::all_if_few, {}, 0},
                              isolation::CompileLimits::from_environment());
  auto state = std::make_shared<Library::State>();
  state->device = &device.state();
  state->bitcode = entry->bitcode;
  state->content = entry->content;
  state->info = entry->info;
  state->warnings = entry->warnings;
  state->from_cache = from_cache;
  if (!from_cache) state->making_time = entry->processor_time;
  if (!entry->is_complete) {
    const support::Hash inputs = inputs_of(key, *entry);
    state->content = inputs;
    state->parts = std::make_shared<LibraryParts>(source, options, key, inputs);
  }
  state->source = std::move(source);
  state->options = options;
  state->dependencies = entry->dependencies;
  return state;
}

}  // namespace metalloid::runtime
