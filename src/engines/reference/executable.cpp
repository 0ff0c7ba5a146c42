#include "engines/reference/executable.h"

#include <cstdint>
#include <string_view>

#include "engines/cpu_shared/run/launch.h"
#include "engines/reference/threadgroup_runner.h"

namespace metalloid::engines::reference {
namespace {

ThreadgroupRunner& runner_of(ThreadgroupState* state) {
  return static_cast<ThreadgroupRunner&>(*static_cast<cpu::Worker*>(state)->runner);
}

std::uint64_t cross_lane(ThreadgroupState* state, const Site* site, std::uint64_t value, std::uint64_t operand,
                         std::uint64_t addend) {
  return runner_of(state).cross_lane(site, value, operand, addend);
}

void barrier(ThreadgroupState* state, const Site* site) { runner_of(state).barrier(site); }

void call_path(ThreadgroupState* state, const CallPath* path) { runner_of(state).call_path(path); }

void* symbol(std::string_view name) {
  if (name == cross_lane_name) return reinterpret_cast<void*>(&cross_lane);
  if (name == barrier_name) return reinterpret_cast<void*>(&barrier);
  if (name == call_path_name) return reinterpret_cast<void*>(&call_path);
  return cpu::runtime_symbol(name);
}

std::unique_ptr<cpu::ThreadRunner> make_runner() { return std::make_unique<ThreadgroupRunner>(); }

cpu::WorkerPool& workers = *new cpu::WorkerPool(make_runner);
const cpu::Runtime& runtime = *new cpu::Runtime{symbol, workers};

}  // namespace

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info) {
  return cpu::load_executable(object, info, runtime);
}

}  // namespace metalloid::engines::reference
