#include "support/private_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "support/descriptor.h"
#include "support/quiet_writes.h"

namespace metalloid::support {
namespace {

constexpr std::size_t max_payload = std::size_t{1} << 30;
constexpr mode_t others_write = S_IWGRP | S_IWOTH;

struct Header {
  char magic[8];
  Hash key;
  std::uint64_t size;
  Hash checksum;  // of the payload
};
constexpr char magic_of_files[8] = {'m', 'e', 't', 'a', 'l', 'o', 'i', '2'};

bool is_mine(const struct stat& status) { return status.st_uid == ::geteuid(); }

// The folder above may be a shared one with a sticky bit, and links lead to it where users want them.
bool may_be_above(const std::filesystem::path& folder) {
  struct stat status;
  if (::stat(folder.empty() ? "." : folder.c_str(), &status) != 0) return false;
  const bool is_shared = (status.st_mode & S_IWOTH) != 0;
  return (is_mine(status) || status.st_uid == 0) && (!is_shared || (status.st_mode & S_ISVTX) != 0);
}

Descriptor open_folder(const std::filesystem::path& folder, struct stat& status) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened || ::fstat(opened.get(), &status) != 0 || !is_mine(status) || !may_be_above(folder.parent_path())) {
    return {};
  }
  return opened;
}

// Like create_directories, for this user only.
void make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || ::mkdir(folder.c_str(), 0700) == 0 || errno != ENOENT) return;
  make_folders(folder.parent_path());
  ::mkdir(folder.c_str(), 0700);
}

Descriptor open_folder_to_write(const std::filesystem::path& folder) {
  make_folders(folder);
  struct stat status;
  Descriptor opened = open_folder(folder, status);
  if (opened && (status.st_mode & others_write) != 0 && ::fchmod(opened.get(), 0700) != 0) return {};
  return opened;
}

}  // namespace

std::filesystem::path private_file(const std::filesystem::path& folder, const Hash& key) { return folder / key.hex(); }

bool write_private_file(const std::filesystem::path& folder, const Hash& key, std::string_view payload) {
  if (payload.size() > max_payload) return false;
  const Descriptor parent = open_folder_to_write(folder);
  if (!parent) return false;

  // A name may be taken by what a killed process left, or by one of the same number in another container.
  static std::atomic<unsigned> counter{0};
  std::string temporary;
  Descriptor file;
  do {
    temporary = fmt::format("{}.{}.{}.tmp", key.hex(), ::getpid(), counter.fetch_add(1));
    file = Descriptor(
        ::openat(parent.get(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  } while (!file && errno == EEXIST);
  if (!file) return false;
  Header header{};
  std::memcpy(header.magic, magic_of_files, sizeof(header.magic));
  header.key = key;
  header.size = payload.size();
  header.checksum = hash_of(payload);
  const QuietWrites quiet;
  if (write_all(file.get(), {reinterpret_cast<const char*>(&header), sizeof(header)}) &&
      write_all(file.get(), payload) && file.close() &&
      ::renameat(parent.get(), temporary.c_str(), parent.get(), key.hex().c_str()) == 0) {
    return true;
  }
  ::unlinkat(parent.get(), temporary.c_str(), 0);
  return false;
}

std::optional<SharedBytes> read_private_file(const std::filesystem::path& folder, const Hash& key) {
  struct stat status;
  const Descriptor parent = open_folder(folder, status);
  if (!parent || (status.st_mode & others_write) != 0) return std::nullopt;
  // Opening a pipe would wait for its other end.
  Descriptor file(::openat(parent.get(), key.hex().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_mine(status) ||
      (status.st_mode & others_write) != 0) {
    return std::nullopt;
  }
  const auto size = static_cast<std::uintmax_t>(status.st_size);
  if (size < sizeof(Header) || size > sizeof(Header) + max_payload) return std::nullopt;
  Header header;
  if (::pread(file.get(), &header, sizeof(header), 0) != sizeof(header) ||
      std::memcmp(header.magic, magic_of_files, sizeof(header.magic)) != 0 || header.key != key) {
    return std::nullopt;
  }
  ::futimens(file.get(), nullptr);  // used now
  auto payload = SharedBytes::map(std::move(file), sizeof(header));
  if (!payload || payload->view().size() != header.size || hash_of(payload->view()) != header.checksum) {
    return std::nullopt;
  }
  return payload;
}

PrivateLock::Taken PrivateLock::take(const std::filesystem::path& folder, const Hash& key) {
  const Descriptor parent = open_folder_to_write(folder);
  while (parent) {
    Descriptor file(::openat(parent.get(), key.hex().c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct flock whole{};
    whole.l_type = F_WRLCK;
    if (!file) break;
    if (::fcntl(file.get(), F_SETLK, &whole) != 0) {
      if (errno == EAGAIN || errno == EACCES) return Taken::by_another;
      break;
    }
    struct stat status;
    if (::fstat(file.get(), &status) != 0) break;
    if (status.st_nlink == 0) continue;  // whoever held it removed the file in between
    path_ = private_file(folder, key);
    file_ = std::move(file);
    return Taken::yes;
  }
  return Taken::impossible;
}

PrivateLock::~PrivateLock() {
  if (file_) ::unlink(path_.c_str());  // before it is let go of
}

}  // namespace metalloid::support
