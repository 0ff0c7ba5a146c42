#include "frontend/files/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "frontend/files/project_folders.h"
#include "frontend/session/options.h"
#include "metalloid/error.h"
#include "stdlib/headers.h"

namespace metalloid::frontend {
namespace {

namespace fs = std::filesystem;
namespace vfs = llvm::vfs;

constexpr llvm::StringLiteral memory_folder = "/metalloid";

bool is_within(llvm::StringRef path, llvm::StringRef folder) {
  return path.consume_front(folder) && (path.empty() || path.front() == '/' || folder.ends_with("/"));
}

std::string without_dots(llvm::StringRef path) {
  llvm::SmallString<256> result(path);
  llvm::sys::path::remove_dots(result, /*remove_dot_dot=*/true);
  while (result.size() > 1 && result.back() == '/') result.pop_back();
  return std::string(result);
}

// An open file that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

// Where an open file lies, links followed.
std::string place_of(int file, const std::string& path) {
  char place[4096];
  const ssize_t length = ::readlink(fmt::format("/proc/self/fd/{}", file).c_str(), place, sizeof(place));
  if (length > 0) return {place, static_cast<std::size_t>(length)};
  std::error_code failed;
  const fs::path canonical = fs::canonical(path, failed);
  return failed ? std::string() : canonical.string();
}

// Reads until the end or one byte more than `limit`; false if the system fails.
bool read_up_to(int file, std::size_t limit, std::size_t expected, std::string& text) {
  std::size_t filled = 0;
  text.resize(std::min(expected, limit) + 1);
  while (true) {
    const ssize_t count = ::read(file, text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    filled += static_cast<std::size_t>(count);
    if (count == 0 || filled > limit) break;
    if (filled == text.size()) text.resize(std::min(text.size() * 2, limit + 1));
  }
  text.resize(filled);
  return true;
}

class TextFile final : public vfs::File {
 public:
  // The text outlives the file: SourceFiles keeps it.
  TextFile(vfs::Status status, llvm::StringRef text) : status_(std::move(status)), text_(text) {}

  llvm::ErrorOr<vfs::Status> status() override { return status_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, std::int64_t, bool,
                                                               bool) override {
    return llvm::MemoryBuffer::getMemBufferCopy(text_, name);
  }
  std::error_code close() override { return {}; }

 private:
  vfs::Status status_;
  llvm::StringRef text_;
};

std::error_code not_found() { return std::make_error_code(std::errc::no_such_file_or_directory); }

}  // namespace

SourceFiles::SourceFiles(const CompileOptions& options, std::string_view prelude)
    : memory_(llvm::makeIntrusiveRefCnt<vfs::InMemoryFileSystem>()) {
  std::error_code failed;
  working_folder_ = fs::current_path(failed).string();
  if (failed) working_folder_ = "/";  // it was removed; nothing there is granted then
  const char* on_disk = stdlib_on_disk();
  for (const auto& header : stdlib::headers()) {
    if (on_disk) break;
    memory_->addFile(std::string(stdlib_folder) + "/" + std::string(header.name), 0,
                     llvm::MemoryBuffer::getMemBuffer(header.text, header.name));
  }
  if (!prelude.empty()) {
    memory_->addFile(prelude_file, 0, llvm::MemoryBuffer::getMemBuffer(prelude, prelude_file, false));
  }
  for (const auto& [name, text] : options.headers) {
    const std::string path = without_dots(std::string(memory_headers_folder) + "/" + name);
    const bool is_relative = !name.empty() && name.front() != '/' && name.find('\0') == std::string::npos &&
                             is_within(path, std::string(memory_headers_folder) + "/");
    if (!is_relative) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("header '{}': headers in memory are named by paths as #include writes them, without a "
                              "leading '/' and without leaving their folder",
                              name));
    }
    if (!memory_->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, name))) {
      throw Error(ErrorCode::invalid_argument, fmt::format("header '{}' is given twice, or is a folder too", name));
    }
  }
  if (!options.files.empty()) {
    bring(options.files);
    return;
  }
  for (const auto& folder : options.include_directories) grant(folder);
  if (!options.source_file.empty()) {
    for (const auto& folder : project_folders(options.source_file)) grant(folder);
  }
  if (on_disk) grant(on_disk);
}

void SourceFiles::bring(const std::map<std::string, std::string>& files) {
  are_brought_ = true;
  const auto add = [&](const std::string& path, Entry::Kind kind, std::string text) {
    Entry& entry = entries_[path];
    if (entry.kind != Entry::Kind::missing) return;
    entry.kind = kind;
    entry.text = std::move(text);
    entry.status = vfs::Status(
        path, vfs::getNextVirtualUniqueID(), {}, 0, 0, entry.text.size(),
        kind == Entry::Kind::folder ? llvm::sys::fs::file_type::directory_file : llvm::sys::fs::file_type::regular_file,
        llvm::sys::fs::perms::all_read);
  };
  for (const auto& [name, text] : files) {
    const std::string path = normal(name);
    add(path, Entry::Kind::file, text);
    for (llvm::StringRef above = llvm::sys::path::parent_path(path); !above.empty();
         above = llvm::sys::path::parent_path(above)) {
      add(above.str(), Entry::Kind::folder, {});
    }
  }
}

void SourceFiles::grant(const fs::path& folder) {
  const std::string path = normal(folder.string());
  if (is_within(path, memory_folder)) return;
  granted_.push_back(path);
  std::error_code failed;
  const fs::path canonical = fs::canonical(path, failed);
  if (!failed && canonical != path) granted_.push_back(canonical.string());
}

bool SourceFiles::is_granted(llvm::StringRef path) const {
  for (const std::string& folder : granted_) {
    if (is_within(path, folder)) return true;
  }
  return false;
}

// Absolute, without `.` and `..`.
std::string SourceFiles::normal(const llvm::Twine& path) const {
  const std::string text = path.str();
  return without_dots(!text.empty() && text.front() == '/' ? text : working_folder_ + "/" + text);
}

const SourceFiles::Entry& SourceFiles::look_up(const std::string& path) {
  static const Entry nothing{};
  if (path.find('\0') != std::string::npos) return nothing;
  const auto known = entries_.find(path);
  if (known != entries_.end()) return known->second;
  if (are_brought_) return nothing;
  if (!is_granted(path)) {
    was_outside_ = true;
    return nothing;
  }
  if (entries_.size() >= max_source_lookups) return nothing;
  return entries_[path] = read(path);
}

SourceFiles::Entry SourceFiles::read(const std::string& path) {
  Entry entry;
  const auto refuse = [&](std::string reason) {
    entry = {};
    entry.refusal = std::move(reason);
    return entry;
  };
  // A device may act when it is opened, so it is looked at first; and nothing waits for the other end of a pipe.
  struct stat information;
  if (::stat(path.c_str(), &information) != 0) return entry;
  const auto type = information.st_mode & S_IFMT;
  if (type != S_IFREG && type != S_IFDIR) return refuse(fmt::format("'{}' is no regular file", path));
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0) {
    return refuse(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
  }
  if (::fstat(file.get(), &information) != 0 || (information.st_mode & S_IFMT) != type) return entry;
  const std::string place = place_of(file.get(), path);
  if (!is_granted(place)) {
    return refuse(
        fmt::format("'{}' is a link to '{}', which lies outside of the folders that this source may include "
                    "from",
                    path, place));
  }
  entry.kind = type == S_IFDIR ? Entry::Kind::folder : Entry::Kind::file;
  if (type == S_IFREG) {
    const std::size_t limit = std::min(max_source_file_bytes, max_source_bytes - bytes_);
    if (static_cast<std::uint64_t>(information.st_size) > limit ||
        !read_up_to(file.get(), limit, static_cast<std::size_t>(information.st_size), entry.text) ||
        entry.text.size() > limit) {
      return refuse(
          limit == max_source_file_bytes
              ? fmt::format("'{}' is larger than {} MiB", path, max_source_file_bytes >> 20)
              : fmt::format("'{}': all files of a source are larger than {} MiB", path, max_source_bytes >> 20));
    }
    bytes_ += entry.text.size();
  }
  entry.status =
      vfs::Status(path, llvm::sys::fs::UniqueID(information.st_dev, information.st_ino),
                  llvm::sys::toTimePoint(information.st_mtime), 0, 0, entry.text.size(),
                  type == S_IFDIR ? llvm::sys::fs::file_type::directory_file : llvm::sys::fs::file_type::regular_file,
                  llvm::sys::fs::perms::all_read);
  return entry;
}

std::vector<Dependency> SourceFiles::dependencies() const {
  std::vector<Dependency> result;
  if (are_brought_) return result;  // they are the request's own
  for (const auto& [path, entry] : entries_) {
    if (entry.kind == Entry::Kind::folder) continue;  // what matters is asked for itself
    const bool is_file = entry.kind == Entry::Kind::file;
    result.push_back({path, is_file, is_file ? support::hash_of(entry.text) : support::Hash{}});
  }
  return result;
}

bool SourceFiles::is_current(const Dependency& dependency) {
  bytes_ = 0;  // one file at a time is in memory
  entries_.clear();
  const Entry& entry = look_up(dependency.path);
  if (entry.kind != Entry::Kind::file) return !dependency.is_file && entry.kind == Entry::Kind::missing;
  return dependency.is_file && support::hash_of(entry.text) == dependency.content;
}

std::string SourceFiles::why_refused(llvm::StringRef name) const {
  llvm::StringRef end = name;
  while (end.consume_front("./") || end.consume_front("../")) {
  }
  for (const auto& [path, entry] : entries_) {
    const llvm::StringRef asked = path;
    const bool is_meant = asked == name || (asked.ends_with(end) && asked.drop_back(end.size()).ends_with("/"));
    if (!entry.refusal.empty() && is_meant) return entry.refusal;
  }
  // Clang asks for the folder of a file before the file.
  const bool leads_out = name.starts_with("/") ? !is_granted(normal(name)) : name.contains("..") && was_outside_;
  return leads_out ? fmt::format("'{}' lies outside of the folders that this source may include from", name.str()) : "";
}

llvm::ErrorOr<vfs::Status> SourceFiles::status(const llvm::Twine& path) {
  const std::string place = normal(path);
  if (is_within(place, memory_folder)) return memory_->status(place);
  const Entry& entry = look_up(place);
  if (entry.kind == Entry::Kind::missing) return not_found();
  return vfs::Status::copyWithNewName(entry.status, path);
}

llvm::ErrorOr<std::unique_ptr<vfs::File>> SourceFiles::openFileForRead(const llvm::Twine& path) {
  const std::string place = normal(path);
  if (is_within(place, memory_folder)) return memory_->openFileForRead(place);
  const Entry& entry = look_up(place);
  if (entry.kind != Entry::Kind::file) return not_found();
  return std::make_unique<TextFile>(vfs::Status::copyWithNewName(entry.status, path), entry.text);
}

vfs::directory_iterator SourceFiles::dir_begin(const llvm::Twine&, std::error_code& error) {
  error = std::make_error_code(std::errc::operation_not_permitted);  // no feature of Metal lists a folder
  return {};
}

std::error_code SourceFiles::setCurrentWorkingDirectory(const llvm::Twine&) {
  return std::make_error_code(std::errc::operation_not_permitted);
}

}  // namespace metalloid::frontend
