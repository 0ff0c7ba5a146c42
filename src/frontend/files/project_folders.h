// What a source that was given as a file may include by paths: its project.
#pragma once

#include <filesystem>
#include <vector>

namespace metalloid::frontend {

// A source file is its user's own, and reaches its neighbours by `#include "../x.h"`; but one that was downloaded need
// not reach the whole machine. Its project is the nearest folder above it under version control; without one, the
// topmost folder above it that is not shared with others: not the root, a home folder or what holds home folders, nor a
// folder for temporary files. The file's own folder always belongs to it. Where the file is a link, both places count.
std::vector<std::filesystem::path> project_folders(const std::filesystem::path& source_file);

}  // namespace metalloid::frontend
