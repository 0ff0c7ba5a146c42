// Sizes of caches in bytes, as Linux knows them.
#pragma once

#include <cstddef>

namespace metalloid::engines::cpu {

// A processor's part of the largest cache. sysconf has a whole machine's on some: 320 MiB in a virtual machine that
// sees one of the ten parts, each with a cache of its own.
std::size_t part_of_last_cache();
// 0 where that is not known.
std::size_t second_cache();

}  // namespace metalloid::engines::cpu
