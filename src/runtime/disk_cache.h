// Compiled libraries and kernels on disk: $METALLOID_CACHE_DIR, else the XDG cache folder. METALLOID_CACHE=0 turns
// it off. Entries are verified when read; a bad one counts as missing and is replaced.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "support/hash.h"

namespace metalloid::runtime {

enum class EntryKind { library, kernel, prelude };

std::optional<std::string> read_cache_entry(EntryKind kind, const support::Hash& key);
// Failing to write is no error: the next process compiles again.
void write_cache_entry(EntryKind kind, const support::Hash& key, std::string_view payload);

}  // namespace metalloid::runtime
