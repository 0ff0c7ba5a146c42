// What a kernel compiles to, for people and for tools that read code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "metalloid/library.h"

namespace metalloid {

enum class Emit : std::uint8_t {
  ir,        // LLVM IR as text
  assembly,  // of the library's device
  object,    // the bytes that the engine would load
};

// The whole library's LLVM IR as text, before specialisation and optimisation.
std::string emit_library(const Library& library);

// One kernel, specialised and optimised for the library's device. Throws as Library::kernel does.
std::string emit(const Library& library, std::string_view kernel, Emit form, const FunctionConstants& constants = {});

}  // namespace metalloid
