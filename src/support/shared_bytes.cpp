#include "support/shared_bytes.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "support/quiet_writes.h"

namespace metalloid::support {

Descriptor make_memory_file(const char* name) { return Descriptor(::memfd_create(name, MFD_CLOEXEC)); }

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

SharedBytes::Mapping::~Mapping() { ::munmap(address, size); }

SharedBytes::SharedBytes(std::string bytes) {
  Descriptor file = make_memory_file("metalloid");
  const QuietWrites quiet;  // the limit on the size of files holds here too
  if (file && write_all(file.get(), bytes)) {
    if (auto mapped = map(std::move(file))) {
      *this = std::move(*mapped);
      return;
    }
  }
  own_ = std::move(bytes);
}

std::optional<SharedBytes> SharedBytes::map(Descriptor file, std::size_t offset) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0 || status.st_size < static_cast<off_t>(offset)) return std::nullopt;
  SharedBytes result;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (address == MAP_FAILED) return std::nullopt;
    result.mapping_.reset(new Mapping{address, size});
  }
  result.offset_ = offset;
  result.file_ = std::move(file);
  return result;
}

std::string_view SharedBytes::view() const {
  if (!mapping_) return own_;
  return {static_cast<const char*>(mapping_->address) + offset_, mapping_->size - offset_};
}

}  // namespace metalloid::support
