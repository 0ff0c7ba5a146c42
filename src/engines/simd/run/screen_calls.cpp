#include "engines/simd/run/screen_calls.h"

#include <cstdint>
#include <utility>

#include "checker/run/screen.h"
#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::simd {
namespace {

using cpu::ThreadgroupState;

void suspect(ThreadgroupState* state, std::uint32_t) { state->screen->suspect("a value"); }

void access_one(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes, const void* address,
                std::uint32_t root, std::uint64_t bytes, std::uint32_t flags) {
  state->screen->access_one(first, lanes, address, root, bytes, flags);
}

void access_row(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes, const void* address,
                std::uint32_t root, std::uint64_t bytes, std::uint32_t flags) {
  state->screen->access_row(first, lanes, address, root, bytes, flags);
}

void access_shared_row(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes, const void* address,
                       std::uint32_t root, std::uint64_t bytes, std::uint32_t flags, std::uint32_t count) {
  state->screen->access_shared_row(first, lanes, address, root, bytes, flags, count);
}

void access_lanes(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes, const void* const* addresses,
                  std::uint32_t root, std::uint64_t bytes, std::uint32_t flags) {
  state->screen->access_lanes(first, lanes, addresses, root, bytes, flags);
}

void meet(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes, std::uint32_t step, std::uint32_t what,
          std::uint32_t operand, const std::uint32_t* operands) {
  state->screen->meet(first, lanes, static_cast<checker::MeetingStep>(step), what, operand, operands);
}

void end(ThreadgroupState* state, std::uint32_t first, std::uint32_t lanes) { state->screen->end(first, lanes); }

}  // namespace

void* screen_symbol(std::string_view name) {
  if (name == screen_suspect_name) return reinterpret_cast<void*>(&suspect);
  if (name == screen_one_name) return reinterpret_cast<void*>(&access_one);
  if (name == screen_row_name) return reinterpret_cast<void*>(&access_row);
  if (name == screen_shared_row_name) return reinterpret_cast<void*>(&access_shared_row);
  if (name == screen_lanes_name) return reinterpret_cast<void*>(&access_lanes);
  if (name == screen_meet_name) return reinterpret_cast<void*>(&meet);
  if (name == screen_end_name) return reinterpret_cast<void*>(&end);
  return nullptr;
}

}  // namespace metalloid::engines::simd
