// Compiled libraries: in memory, else on disk, else by the front end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "isolation/compile_limits.h"
#include "metalloid/device.h"
#include "metalloid/recorder.h"

namespace metalloid::runtime {

// A source that instantiates many kernels, or whose kernels need many functions of templates, is only read here; code
// comes in parts, when kernels are asked for. Then what is wrong inside of a template's body is reported when code of
// it is made.
std::shared_ptr<const Library::State> find_or_compile_library(Device device, std::shared_ptr<const SourceText> source,
                                                              const CompileOptions& options);

// Code, and what is said of it, as long as somebody keeps it.
struct LibraryCode {
  std::shared_ptr<const void> owner;
  std::string_view bitcode;
  const LibraryInfo* info = nullptr;
};

// What is left of the limits for what is made from a library: one limit of time holds for the whole way to a kernel.
isolation::CompileLimits limits_of(const Library::State& library);

// With the code of that kernel. Throws what find_or_compile_library throws.
LibraryCode code_with(const Library::State& library, const std::string& kernel, const isolation::CompileLimits& limits);
// With all kernels. What it returns lives as long as the library.
LibraryCode whole_code(const Library::State& library);

}  // namespace metalloid::runtime
