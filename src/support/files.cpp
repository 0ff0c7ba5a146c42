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
#include "support/hash.h"
#include "support/quiet_writes.h"
#include "support/shared_bytes.h"

namespace metalloid::support {
namespace {

struct CheckedHeader {
  char magic[8];
  std::uint64_t size;
  Hash checksum;
};
constexpr char checked_magic[8] = {'m', 'e', 't', 'a', 'l', 'o', 'i', '1'};

// Reads all of a file, or returns errno's value.
int read_whole(const std::filesystem::path& path, std::string& contents) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno;
  struct stat status;
  if (::fstat(file.get(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EISDIR;
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
  }
  contents.resize(filled);
  return 0;
}

bool write_atomically(const std::filesystem::path& path, std::string_view first, std::string_view second) {
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
  bool written = write_all(file.get(), first) && write_all(file.get(), second) && file.close();
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return true;
  ::unlink(temporary.c_str());
  return false;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::string contents;
  if (int error = read_whole(path, contents)) {
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
  return write_atomically(path, contents, {});
}

bool write_checked_file(const std::filesystem::path& path, std::string_view payload) {
  CheckedHeader header;
  std::memcpy(header.magic, checked_magic, sizeof(checked_magic));
  header.size = payload.size();
  header.checksum = hash_of(payload);
  return write_atomically(path, {reinterpret_cast<const char*>(&header), sizeof(header)}, payload);
}

std::optional<std::string> read_checked_file(const std::filesystem::path& path) {
  std::string contents;
  if (read_whole(path, contents) != 0) return std::nullopt;
  CheckedHeader header;
  if (contents.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, contents.data(), sizeof(header));
  if (std::memcmp(header.magic, checked_magic, sizeof(checked_magic)) != 0) return std::nullopt;
  std::string_view payload = std::string_view(contents).substr(sizeof(header));
  if (payload.size() != header.size || hash_of(payload) != header.checksum) return std::nullopt;
  contents.erase(0, sizeof(header));
  return contents;
}

}  // namespace metalloid::support
