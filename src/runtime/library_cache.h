// Compiled libraries: in memory, else on disk, else by the front end.
#pragma once

#include <memory>

#include "metalloid/device.h"
#include "metalloid/recorder.h"

namespace metalloid::runtime {

std::shared_ptr<const Library::State> find_or_compile_library(Device device, std::shared_ptr<const SourceText> source,
                                                              const CompileOptions& options);

}  // namespace metalloid::runtime
