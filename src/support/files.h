// Reading and writing whole files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace metalloid::support {

// Throws Error(input_output) naming the file and the system's reason.
std::string read_file(const std::filesystem::path& path);
// Nothing if the file cannot be read.
std::optional<std::string> try_read_file(const std::filesystem::path& path);

// Other processes see the old contents or the new, never a part: writes a temporary file beside it and renames
// that. Creates missing folders. Returns false if any of it failed.
bool write_file_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace metalloid::support
