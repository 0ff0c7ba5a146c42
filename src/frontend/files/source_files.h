// The files that a source can reach: what was given in memory, and regular files of bounded size in the folders that
// were granted. Clang has no other file system, so every way to name a file leads here: `#include`, `#import`,
// `__has_include`, pragmas. What was asked for is kept, with its contents or its absence, for caches to compare.
//
// A source that brings its files has no others. Otherwise a path is served if it leads into a granted folder as it is
// written, and again after links were followed. A link that leads out is refused: a folder of sources from elsewhere
// could otherwise name any file of its host. Links within the granted folders are followed, and a granted folder may
// itself be one.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/Support/VirtualFileSystem.h>

#include "frontend/frontend.h"

namespace metalloid::frontend {

inline constexpr std::size_t max_source_file_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_source_bytes = std::size_t{256} << 20;  // of all files of one compilation
inline constexpr std::size_t max_source_lookups = 100'000;               // different paths

class SourceFiles final : public llvm::vfs::FileSystem {
 public:
  // Throws Error(invalid_argument) for headers whose names are no relative paths. `prelude` may be empty and outlives
  // the object, as do the texts of `options.headers`.
  SourceFiles(const CompileOptions& options, std::string_view prelude);

  // All paths that were asked for in granted folders.
  std::vector<Dependency> dependencies() const;
  // Whether a path means now what it meant then.
  bool is_current(const Dependency& dependency);
  // Why `name` was not found although something is there, as text for a note; empty if there is no such reason.
  std::string why_refused(llvm::StringRef name) const;

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& folder, std::error_code& error) override;
  std::error_code setCurrentWorkingDirectory(const llvm::Twine& path) override;
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override { return working_folder_; }

 private:
  struct Entry {
    enum class Kind { missing, folder, file } kind = Kind::missing;
    llvm::vfs::Status status;
    std::string text;
    std::string refusal;
  };

  void bring(const std::map<std::string, std::string>& files);
  void grant(const std::filesystem::path& folder);
  bool is_granted(llvm::StringRef path) const;
  std::string normal(const llvm::Twine& path) const;
  const Entry& look_up(const std::string& path);
  Entry read(const std::string& path);

  std::string working_folder_;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory_;
  std::vector<std::string> granted_;  // absolute, without `.` and `..`; as written and with links followed
  std::map<std::string, Entry> entries_;
  bool are_brought_ = false;  // the entries are all that there is
  bool was_outside_ = false;  // something was asked for that is in no granted folder, and not looked at
  std::size_t bytes_ = 0;
};

}  // namespace metalloid::frontend
