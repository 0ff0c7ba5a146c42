#include "checker/run/shadow.h"

#include <sys/mman.h>

#include <new>

namespace metalloid::checker {

void Cells::reserve(const std::byte* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / granule * granule;
  const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  const std::size_t count = (end - first + granule - 1) / granule;
  void* memory = ::mmap(nullptr, count * sizeof(Cell), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  ::madvise(memory, count * sizeof(Cell), MADV_HUGEPAGE);
#endif
  cells_ = {static_cast<Cell*>(memory), UnmapCells{count * sizeof(Cell)}};
  first_ = first;
  count_ = count;
}

void UnmapCells::operator()(Cell* cells) const { ::munmap(cells, bytes); }

}  // namespace metalloid::checker
