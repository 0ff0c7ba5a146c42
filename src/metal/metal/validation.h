// What Metal's debug layer checks (MTL_DEBUG_LAYER=1): uses of encoders and command buffers that go without a word
// otherwise, or with a wrong result. A failed one ends the process with Metal's words, or with
// MTL_DEBUG_LAYER_ERROR_MODE=nslog is told alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "metalloid/metal/objects.h"

namespace metalloid::metal {

bool is_validating();

// What is told of: "MTLDebugComputeCommandEncoder", "setBytes:length:atIndex:".
struct Method {
  std::string_view of, name;
};
void expect(bool is_right, const Method& method, const std::string& otherwise);

// Whether or not there is a debug layer.
[[noreturn]] void refuse(const Method& method, const std::string& reason);

// A dispatch that is about to be encoded.
void validate_dispatch(const EncoderObject& encoder, std::string_view name, std::array<std::uint64_t, 3> grid,
                       std::array<std::uint64_t, 3> group);

}  // namespace metalloid::metal
