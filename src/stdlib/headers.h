// The MSL standard library that we ship, embedded at build time (embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace metalloid::stdlib {

// The folder that they are in, for the compiler.
inline constexpr const char* folder = "/metalloid/stdlib";

struct Header {
  std::string_view name;  // as in #include <name>
  std::string_view text;  // followed by a zero byte
};

std::span<const Header> headers();

}  // namespace metalloid::stdlib
