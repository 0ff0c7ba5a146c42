#include "engines/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "engines/cpu_shared/hardware.h"
#include "engines/cuda/cuda_engine.h"
#include "engines/cuda/run/gpu.h"
#include "engines/reference/reference_engine.h"
#include "engines/simd/simd_engine.h"
#include "engines/trial/trial_engine.h"
#include "metalloid/error.h"
#include "support/made_once.h"

namespace metalloid::engines {
namespace {

using Engines = std::vector<std::unique_ptr<Engine>>;
using Devices = std::vector<RegisteredDevice>;

Engines make_engines() {
  Engines list;
  [[maybe_unused]] const auto& reference = *list.emplace_back(reference::make_engine());
  [[maybe_unused]] const auto& simd = *list.emplace_back(simd::make_engine());
  list.push_back(cuda::make_engine());
#ifdef METALLOID_TRIAL_ENGINE
  if (std::getenv("METALLOID_TRIAL_ENGINE")) {
    list.push_back(trial::make_engine("trial", simd));
    list.push_back(trial::make_engine("trial_reference", reference));
    list.push_back(reference::make_masked_engine());
  }
#endif
  return list;
}

Devices make_devices() {
  Hardware* host = &cpu::hardware();
  const Runner simd{&engine_named("simd"), host}, reference{&engine_named("reference"), host};
  Devices list{{"cpu", {simd, reference}}, {"reference", {reference}}};
  for (cuda::Gpu* gpu : cuda::gpus()) {
    const bool is_first = list.size() == 2;
    list.push_back({is_first ? "cuda" : fmt::format("cuda:{}", list.size() - 2), {{&engine_named("cuda"), gpu}}});
  }
#ifdef METALLOID_TRIAL_ENGINE
  if (std::getenv("METALLOID_TRIAL_ENGINE")) {
    // What the first engine does not take runs in the host's memory.
    for (std::size_t i = 0; i < trial::hardware_count; ++i) {
      list.push_back(
          {i == 0 ? "trial" : fmt::format("trial:{}", i), {{&engine_named("trial"), &trial::hardware(i)}, reference}});
    }
    list.push_back({"trial_reference", {{&engine_named("trial_reference"), &trial::hardware(0)}}});
    list.push_back({"trial_unified",
                    {{&engine_named("trial"), &trial::unified_hardware()},
                     {&engine_named("trial_reference"), &trial::unified_hardware()}}});
    list.push_back({"masked", {{&engine_named("masked"), host}, reference}});
  }
#endif
  return list;
}

constinit support::MadeOnce<Engines> made_engines;
constinit support::MadeOnce<Devices> made_devices;

}  // namespace

const Engines& all_engines() { return made_engines.get(make_engines); }
const Devices& all_devices() { return made_devices.get(make_devices); }

const Engine& engine_named(std::string_view name) {
  for (const auto& engine : all_engines()) {
    if (engine->name() == name) return *engine;
  }
  throw Error(ErrorCode::internal, fmt::format("no engine is named '{}'", name));
}

bool has_device(std::string_view name) {
  return std::ranges::any_of(all_devices(), [&](const RegisteredDevice& device) { return device.name == name; });
}

std::string reason_without(std::string_view name) {
  return name == "cuda" || name.starts_with("cuda:") ? cuda::reason_without_gpus() : "";
}

std::vector<Runner> runners_that(CheckRole role) {
  for (const RegisteredDevice& device : all_devices()) {
    for (const Runner& runner : device.runners) {
      if (runner.engine->check_role() == role) return {runner};
    }
  }
  return {};
}

void interrupt_all() noexcept {
  const Devices* list = made_devices.if_made();
  if (!list) return;
  for (const RegisteredDevice& device : *list) {
    for (const Runner& runner : device.runners) runner.hardware->interrupt();
  }
}

}  // namespace metalloid::engines
