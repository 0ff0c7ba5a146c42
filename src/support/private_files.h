// Files that this user wrote and nobody else could have changed: what is loaded from them becomes code of this process.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "support/descriptor.h"
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

// Held by one of this user's processes at a time: a file that is there while somebody holds it. A process that ends
// lets go of it; a forked child does not hold it.
class PrivateLock {
 public:
  enum class Taken { yes, by_another, impossible };

  PrivateLock() = default;
  ~PrivateLock();
  PrivateLock(const PrivateLock&) = delete;
  PrivateLock& operator=(const PrivateLock&) = delete;

  // Does not wait. Impossible where no file can be made. The same thread or another one of this process takes it again.
  Taken take(const std::filesystem::path& folder, const Hash& key);

 private:
  std::filesystem::path path_;
  Descriptor file_;  // while it is held
};

}  // namespace metalloid::support
