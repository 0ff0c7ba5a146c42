// The reference engine: runs each thread's scalar code, one lane at a time, on the machine's CPU. It defines what
// the other engines are compared with.
#pragma once

#include <memory>
#include <string_view>

#include "engines/engine.h"

namespace metalloid::engines::reference {

std::unique_ptr<Engine> make_engine();

// The same for kernels whose operations across lanes name the lanes that take part (ir/passes/explicit_lanes.h): it
// carries out what the masks say, and ends a dispatch in which other lanes come. It proves the masks, for tests.
std::unique_ptr<Engine> make_masked_engine();
// Its code of a kernel that has its masks already, in LLVM's text.
std::unique_ptr<Executable> load_masked(std::string_view llvm_assembly, const KernelInfo& kernel);

}  // namespace metalloid::engines::reference
