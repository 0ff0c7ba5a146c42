#include "frontend/files/project_folders.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace metalloid::frontend {
namespace {

namespace fs = std::filesystem;

// Folders that a project lies in and does not contain.
std::vector<fs::path> shared_folders() {
  std::vector<fs::path> folders = {"/", "/home", "/tmp", "/var/tmp", "/var"};
  const auto add = [&](const fs::path& folder) {
    for (fs::path above = folder; above.is_absolute(); above = above.parent_path()) {
      folders.push_back(above);
      if (above == above.parent_path()) break;
    }
  };
  if (const char* home = std::getenv("HOME")) add(fs::path(home).lexically_normal());
  std::error_code failed;
  const fs::path temporary = fs::temp_directory_path(failed);
  if (!failed) add(temporary.lexically_normal());
  for (fs::path& folder : folders) {
    if (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();  // a slash at the end
  }
  return folders;
}

fs::path project_of(const fs::path& folder) {
  const std::vector<fs::path> shared = shared_folders();
  fs::path project = folder;
  for (fs::path above = folder; std::find(shared.begin(), shared.end(), above) == shared.end();
       above = above.parent_path()) {
    project = above;
    for (const char* mark : {".git", ".hg", ".svn", ".jj"}) {
      std::error_code failed;
      if (fs::exists(above / mark, failed)) return above;
    }
  }
  return project;
}

}  // namespace

std::vector<fs::path> project_folders(const fs::path& source_file) {
  std::vector<fs::path> folders;
  std::error_code failed;
  const fs::path absolute = fs::absolute(source_file, failed).lexically_normal();
  if (failed) return folders;
  folders.push_back(project_of(absolute.parent_path()));
  const fs::path canonical = fs::canonical(absolute, failed);
  if (!failed && canonical != absolute) folders.push_back(project_of(canonical.parent_path()));
  return folders;
}

}  // namespace metalloid::frontend
