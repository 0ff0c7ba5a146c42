#include "support/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "metalloid/error.h"
#include "support/descriptor.h"
#include "support/quiet_writes.h"
#include "support/shared_bytes.h"

namespace metalloid::support {
namespace {

// Reads all of a file, or returns errno's value.
int read_whole(const std::filesystem::path& path, std::string& contents,
               std::size_t most_bytes = std::numeric_limits<std::size_t>::max()) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno;
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
  if (static_cast<std::uint64_t>(status.st_size) > most_bytes) return EFBIG;
  contents.clear();
  std::size_t filled = 0;
  contents.resize(static_cast<std::size_t>(status.st_size) + 1);
  while (true) {
    if (filled == contents.size()) contents.resize(contents.size() * 2);
    ssize_t count = ::read(file.get(), contents.data() + filled, contents.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
    if (filled > most_bytes) return EFBIG;
  }
  contents.resize(filled);
  return 0;
}

bool write_atomically(const std::filesystem::path& path, std::string_view contents) {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  // A name may be taken by what a killed process left, or by one of the same number in another container.
  std::filesystem::path temporary;
  int opened = -1;
  do {
    temporary = path;
    temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
    opened = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  } while (opened < 0 && errno == EEXIST);
  Descriptor file(opened);
  if (file.get() < 0) return false;
  const QuietWrites quiet;  // a limit of file sizes (ulimit -f) makes this fail, and nothing else
  bool written = write_all(file.get(), contents) && file.close();
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t most_bytes) {
  std::string contents;
  if (int error = read_whole(path, contents, most_bytes)) {
    throw Error(ErrorCode::input_output,
                fmt::format("cannot read '{}': {}", path.string(), std::generic_category().message(error)));
  }
  return contents;
}

std::optional<std::string> try_read_file(const std::filesystem::path& path) {
  std::string contents;
  if (read_whole(path, contents) != 0) return std::nullopt;
  return contents;
}

bool write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
  return write_atomically(path, contents);
}

}  // namespace metalloid::support
