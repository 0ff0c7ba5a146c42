#include "engines/simd/run/executable.h"

#include "engines/cpu_shared/run/launch.h"
#include "engines/cpu_shared/run/thread_runner.h"
#include "engines/simd/math/rare_lanes.h"
#include "engines/simd/run/screen_calls.h"
#include "engines/simd/run/simdgroup_runner.h"
#include "engines/simd/run/wrapped_rows.h"
#include "engines/simd/tiles/tile_calls.h"

namespace metalloid::engines::simd {
namespace {

void* symbol(std::string_view name) {
  if (void* address = vector_math_symbol(name)) return address;
  if (void* address = screen_symbol(name)) return address;
  if (void* address = wrapped_rows_symbol(name)) return address;
  if (void* address = tile_symbol(name)) return address;
  return cpu::runtime_symbol(name);
}

std::unique_ptr<cpu::ThreadRunner> make_runner() { return std::make_unique<SimdgroupRunner>(); }

cpu::WorkerPool& workers = *new cpu::WorkerPool(make_runner);
const cpu::Runtime& runtime = *new cpu::Runtime{symbol, workers};

}  // namespace

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info) {
  return cpu::load_executable(object, info, runtime);
}

}  // namespace metalloid::engines::simd
