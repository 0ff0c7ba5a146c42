// 128-bit content hashes (XXH3) that name cache entries and verify files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace metalloid::support {

struct Hash {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Hash&) const = default;
  auto operator<=>(const Hash&) const = default;
  std::string hex() const;  // 32 digits
  static std::optional<Hash> from_hex(std::string_view digits);
};

Hash hash_bytes(const void* data, std::size_t size);
inline Hash hash_of(std::string_view text) { return hash_bytes(text.data(), text.size()); }

// Hashes a sequence of values. Strings count with their length, so that ("ab", "c") differs from ("a", "bc").
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& add(std::string_view text);
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  Hasher& add(T value) {
    return add_raw(&value, sizeof(value));
  }
  Hasher& add(const Hash& hash) { return add_raw(&hash, sizeof(hash)); }
  Hash finish() const;

 private:
  Hasher& add_raw(const void* data, std::size_t size);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace metalloid::support

template <>
struct std::hash<metalloid::support::Hash> {
  std::size_t operator()(const metalloid::support::Hash& hash) const noexcept { return hash.low; }
};
