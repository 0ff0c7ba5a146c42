#include "support/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>
#include <cstdio>

namespace metalloid::support {

std::string Hash::hex() const {
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

std::optional<Hash> Hash::from_hex(std::string_view digits) {
  constexpr std::size_t half = 16;
  const auto read = [](std::string_view part, std::uint64_t& number) {
    const auto read_to = std::from_chars(part.data(), part.data() + part.size(), number, 16).ptr;
    return read_to == part.data() + part.size();
  };
  Hash hash;
  if (digits.size() != 2 * half || !read(digits.substr(0, half), hash.high) || !read(digits.substr(half), hash.low)) {
    return std::nullopt;
  }
  return hash;
}

Hash hash_bytes(const void* data, std::size_t size) {
  XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.low64, hash.high64};
}

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(new State) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;

Hasher& Hasher::add(std::string_view text) {
  std::uint64_t size = text.size();
  add_raw(&size, sizeof(size));
  return add_raw(text.data(), text.size());
}

Hasher& Hasher::add_raw(const void* data, std::size_t size) {
  XXH3_128bits_update(&state_->xxh, data, size);
  return *this;
}

Hash Hasher::finish() const {
  XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh);
  return {hash.low64, hash.high64};
}

}  // namespace metalloid::support
