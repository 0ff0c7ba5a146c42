// Compiled libraries and kernels, extensions for other programs, and tuned threadgroup sizes, on disk:
// $METALLOID_CACHE_DIR, else the XDG cache folder. METALLOID_CACHE=0 turns it off. METALLOID_CACHE_SIZE bounds it, in
// MiB (default 2048, 0: no bound): beyond that, what was not used for longest goes. Entries are verified when read; a
// bad one counts as missing and is replaced, as does one that another user wrote or could have written
// (support/private_files.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/hash.h"
#include "support/shared_bytes.h"

namespace metalloid::runtime {

enum class EntryKind {
  library,
  kernel,
  assembled,  // what a driver has made of a kernel
  prelude,
  tuning,
  extension,
};

std::optional<support::SharedBytes> read_cache_entry(EntryKind kind, const support::Hash& key);
// Failing to write is no error: the next process compiles again.
void write_cache_entry(EntryKind kind, const support::Hash& key, std::string_view payload);

// A folder of the cache; nothing if it is off.
std::optional<std::filesystem::path> cache_folder(std::string_view name);

// The payloads of all entries of a kind that can be read, in no order.
std::vector<std::string> read_cache_entries(EntryKind kind);
// Returns how many files were removed.
std::size_t remove_cache_entries(EntryKind kind);

}  // namespace metalloid::runtime
