// Reading and writing whole files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace metalloid::support {

// Throws Error(input_output) naming the file and the system's reason, which is EFBIG beyond `most_bytes`.
std::string read_file(const std::filesystem::path& path,
                      std::size_t most_bytes = std::numeric_limits<std::size_t>::max());
// Nothing if the file cannot be read.
std::optional<std::string> try_read_file(const std::filesystem::path& path);

// Other processes see the old contents or the new, never a part: writes a temporary file beside it and renames
// that. Creates missing folders. Returns false if any of it failed.
bool write_file_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace metalloid::support
