#include "support/guarded_memory.h"

#include <new>

namespace metalloid::support {
namespace {

constexpr std::size_t strip = std::size_t{16} << 10;
// Address space only. A threadgroup too large by a factor of 32 must still land in it for rows of usual length.
constexpr std::size_t forbidden = std::size_t{64} << 20;
constexpr std::uint32_t pattern = 0xa5a5a5a5;

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size) : size_(size) {
  if (size > SIZE_MAX - 2 * strip) throw std::bad_alloc();
  mapping_.map(size + 2 * strip, forbidden, forbidden);
  data_ = mapping_.begin() + strip;
  padding_ = Padding({data_, size}, strip, static_cast<std::size_t>(mapping_.end() - (data_ + size)), pattern);
  padding_.lay();
}

}  // namespace metalloid::support
