#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

namespace metalloid::comparison {

// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  unsigned below(unsigned bound) { return static_cast<unsigned>((next() >> 32) % bound); }
  bool one_in(unsigned n) { return below(n) == 0; }
  std::string among(std::initializer_list<const char*> texts) {
    return texts.begin()[below(static_cast<unsigned>(texts.size()))];
  }

 private:
  std::uint64_t state_;
};

}  // namespace metalloid::comparison
