#include "support/readable.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace metalloid::support {

bool is_readable(const void* address) {
  std::byte copy;
  iovec to{&copy, 1}, from{const_cast<void*>(address), 1};
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == 1) return true;
  if (errno != EPERM && errno != ENOSYS) return false;
  // Where a sandbox forbids that: at least whether something is mapped there.
  unsigned char state = 0;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(address) / page * page;
  return ::mincore(reinterpret_cast<void*>(start), 1, &state) == 0;
}

const void* first_readable(const void* address, const void* end) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto last = reinterpret_cast<std::uintptr_t>(end);
  while (at < last && !is_readable(reinterpret_cast<const void*>(at))) at = (at / page + 1) * page;
  return at < last ? reinterpret_cast<const void*>(at) : end;
}

}  // namespace metalloid::support
