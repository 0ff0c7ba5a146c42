// Places in a text as Foundation counts them: in units of UTF-16, of which characters beyond 16 bits have two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace metalloid::objective_c {

std::size_t utf16_length(std::string_view utf8);
// Where a unit begins, in bytes; the end for what lies beyond.
std::size_t utf8_offset(std::string_view utf8, std::size_t unit);
std::uint16_t utf16_unit(std::string_view utf8, std::size_t unit);

}  // namespace metalloid::objective_c
