#include "engines/registry.h"

#include <cstdlib>

#include "engines/reference/reference_engine.h"
#include "engines/simd/simd_engine.h"
#include "engines/trial/trial_engine.h"
#include "support/made_once.h"

namespace metalloid::engines {
namespace {

struct Registry {
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<RegisteredDevice> devices;

  const Engine* add(std::unique_ptr<Engine> engine) { return engines.emplace_back(std::move(engine)).get(); }
};

constinit support::MadeOnce<Registry> made;

const Registry& registry() {
  return made.get([] {
    Registry list;
    const Engine* reference = list.add(reference::make_engine());
    const Engine* simd = list.add(simd::make_engine());
    list.devices.push_back({"cpu", {simd, reference}});
    list.devices.push_back({"reference", {reference}});
#ifdef METALLOID_TRIAL_ENGINE
    if (std::getenv("METALLOID_TRIAL_ENGINE")) {
      // What the first engine does not take runs in the host's memory, on the second device in its own.
      list.devices.push_back({"trial", {list.add(trial::make_engine("trial", *simd, trial::hardware(0))), reference}});
      list.devices.push_back(
          {"trial_reference", {list.add(trial::make_engine("trial_reference", *reference, trial::hardware(1)))}});
      trial::TrialHardware& unified = trial::hardware_with_memory_of(simd->hardware());
      list.devices.push_back({"trial_unified",
                              {list.add(trial::make_engine("trial_unified", *simd, unified)),
                               list.add(trial::make_engine("trial_unified_reference", *reference, unified))}});
    }
#endif
    return list;
  });
}

}  // namespace

const std::vector<std::unique_ptr<Engine>>& all_engines() { return registry().engines; }
const std::vector<RegisteredDevice>& all_devices() { return registry().devices; }

void interrupt_all() noexcept {
  const Registry* list = made.if_made();
  if (!list) return;
  for (const auto& engine : list->engines) engine->hardware().interrupt();
}

}  // namespace metalloid::engines
