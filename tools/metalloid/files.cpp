// Opening, refusing and renaming.
#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "metalloid/error.h"
#include "output.h"

namespace metalloid::tool {
namespace {

std::string words(int error) { return std::generic_category().message(error); }

// What is no regular file.
std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// A path that names a descriptor of this process.
bool is_open_already(const std::filesystem::path& file) {
  const std::string text = file.string();
  return text == "/dev/stdin" || text.starts_with("/dev/fd/") || text.starts_with("/proc/self/fd/");
}

// By how it begins: an encoding other than UTF-8, or the result of another compiler.
std::string reason_not_text(const std::filesystem::path& file) {
  char start[4] = {};
  const std::string_view begin(start, InputFile(file).read(start, sizeof start));
  if (begin == "MTLB") return "it is a compiled library; only its source runs here";
  if (begin.starts_with("\xff\xfe") || begin.starts_with("\xfe\xff") ||
      (begin.size() > 1 && (begin[0] == '\0' || begin[1] == '\0'))) {
    return "it is UTF-16 or UTF-32 text; a source is UTF-8";
  }
  return {};
}

}  // namespace

std::string reason_not_source(const std::filesystem::path& file) {
  // More than any source has; Clang itself ends at 2 GiB.
  constexpr off_t largest_source = off_t{256} << 20;
  struct stat status;
  if (file.empty()) return "the file's name is empty";
  if (::stat(file.c_str(), &status) != 0) return words(errno);
  const bool is_pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  if (!S_ISREG(status.st_mode) && !(is_pipe && is_open_already(file))) {
    return fmt::format("it is {}, not a file", kind_of(status.st_mode));
  }
  if (::access(file.c_str(), R_OK) != 0) return words(errno);
  if (status.st_size > largest_source) {
    return fmt::format("it has {} MiB, more than the {} of the largest source", status.st_size >> 20,
                       largest_source >> 20);
  }
  return S_ISREG(status.st_mode) ? reason_not_text(file) : std::string();
}

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  auto fail = [&](const std::string& reason) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(ErrorCode::input_output, fmt::format("{}: cannot be read: {}", printable_name(path.string()), reason));
  };
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // a pipe's writer is not awaited
  struct stat status;
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) fail(words(errno));
  if (!S_ISREG(status.st_mode)) fail(fmt::format("it is {}, not a file", kind_of(status.st_mode)));
  size_ = static_cast<std::size_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(void* memory, std::size_t bytes) {
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t count = ::read(descriptor_, static_cast<char*>(memory) + filled, bytes - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorCode::input_output,
                  fmt::format("{}: cannot be read: {}", printable_name(path_.string()), words(errno)));
    }
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path) {
  if (path.empty()) throw Error(ErrorCode::input_output, "a file to write has an empty name");
  struct stat status;
  const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if (exists && ::access(path.c_str(), W_OK) != 0) fail(errno);
  std::error_code error;
  target_ = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  const bool renamable = exists ? S_ISREG(status.st_mode) && status.st_nlink == 1 : !is_link;
  if (error || !renamable || !open_beside()) open_in_place();
  // What replaces a file has its permissions.
  if (exists && !in_place_) (void)::fchmod(descriptor_, status.st_mode & 0777);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(int error) const {
  throw Error(ErrorCode::input_output,
              fmt::format("{}: cannot be written: {}", printable_name(path_.string()), words(error)));
}

void OutputFile::open_in_place() {
  in_place_ = true;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0) fail(errno);
}

std::string OutputFile::name_beside() const {
  static std::atomic<unsigned> counter{0};
  return target_.parent_path() / fmt::format(".metalloid-{}-{}.tmp", ::getpid(), counter.fetch_add(1));
}

bool OutputFile::open_beside() {
  // Without a name nothing is left of it if this process ends early.
  if (::access("/proc/self/fd", X_OK) == 0) {
    descriptor_ = ::open(target_.parent_path().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) return true;
  }
  std::string name;
  do {
    name = name_beside();
    descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) return false;
  temporary_ = std::move(name);
  return true;
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(count == 0 ? ENOSPC : errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputFile::finish() {
  struct stat status;
  if (in_place_ && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    if (::ftruncate(descriptor_, ::lseek(descriptor_, 0, SEEK_CUR)) != 0) fail(errno);
  }
  if (!in_place_ && temporary_.empty()) {
    const std::string source = fmt::format("/proc/self/fd/{}", descriptor_);
    std::string name;
    int linked;
    do {
      name = name_beside();
      linked = ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
    } while (linked != 0 && errno == EEXIST);
    if (linked != 0) fail(errno);
    temporary_ = std::move(name);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (in_place_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

}  // namespace metalloid::tool
