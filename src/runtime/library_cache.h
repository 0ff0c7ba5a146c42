// Compiled libraries: in memory, else on disk, else by the front end.
#pragma once

#include <memory>
#include <string_view>

#include "metalloid/device.h"

namespace metalloid::runtime {

std::shared_ptr<const Library::State> find_or_compile_library(Device device, std::string_view source,
                                                              const CompileOptions& options);

}  // namespace metalloid::runtime
