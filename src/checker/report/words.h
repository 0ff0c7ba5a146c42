// Text of sources, hosts and kernels as reports may show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "metalloid/check.h"

namespace metalloid::checker {

// The bytes of the UTF-8 sequence at the start of a text; 1 where there is none.
std::size_t length_of_character(std::string_view text);

// In one line, with nothing that acts on a terminal, and cut off where it is much longer than any that people write.
std::string one_line(std::string_view text, std::size_t most_bytes = 1000);

// "1 byte", "4 bytes"
std::string counted(std::uint64_t count, std::string_view one);

// "reads 4 bytes here"
std::string action_of(const FindingStep& step);
// How a place came to be one of the code: "called from here", "macro 'ADD' is expanded here".
std::string words_of_caller(const SourcePlace& inner);
// "thread (4, 0, 0) of threadgroup (0, 0, 0) (simdgroup 0, lane 4)"
std::string words_of(const ThreadPlace& thread);
// "thread (...) of threadgroup (...) (...) reads 4 bytes here: 0.5"; empty for a step that says nothing.
std::string words_of(const FindingStep& step);

}  // namespace metalloid::checker
