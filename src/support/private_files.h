// Files that this user wrote and nobody else could have changed: what is loaded from them becomes code of this process.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "support/hash.h"
#include "support/shared_bytes.h"

namespace metalloid::support {

// A payload behind a header with the key that it belongs to, its length and checksum. Other processes see the old file
// or the new, never a part. Makes missing folders, all for this user only. False if any of it failed.
bool write_private_file(const std::filesystem::path& folder, const Hash& key, std::string_view payload);

// The payload of that key. Nothing if the file or its folder belongs to another user, can be written by others or is a
// link, and if the file is missing, cut off, altered, of another key or too large. Counts as a use of the file: its
// modification time becomes now.
std::optional<SharedBytes> read_private_file(const std::filesystem::path& folder, const Hash& key);

// Where write_private_file puts a payload.
std::filesystem::path private_file(const std::filesystem::path& folder, const Hash& key);

}  // namespace metalloid::support
