#include "checker/run/shadow.h"

namespace metalloid::checker {

void Cells::reserve(const std::byte* begin, std::size_t bytes) {
  first_ = reinterpret_cast<std::uintptr_t>(begin) / granule * granule;
  const auto end = reinterpret_cast<std::uintptr_t>(begin) + bytes;
  cells_ = support::ZeroedArray<Cell>((end - first_ + granule - 1) / granule);
}

}  // namespace metalloid::checker
