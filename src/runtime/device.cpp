// Devices, and how they make libraries.
#include "metalloid/device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "engines/registry.h"
#include "runtime/compile/library_cache.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"
#include "support/files.h"
#include "support/made_once.h"

namespace metalloid {
namespace {

// Those of the registry, and each engine alone under its own name, on the first hardware that it runs on.
const std::vector<std::unique_ptr<Device::State>>& device_states() {
  static constinit support::MadeOnce<std::vector<std::unique_ptr<Device::State>>> states;
  return states.get([] {
    std::vector<std::unique_ptr<Device::State>> list;
    auto add = [&](std::string name, std::vector<engines::Runner> runners) {
      for (const auto& known : list) {
        if (known->name == name) return;
      }
      const engines::Runner first = runners.front();
      std::string description = first.description();
      if (name != first.engine->name()) description = fmt::format("{}, {}", first.engine->name(), description);
      list.push_back(std::make_unique<Device::State>(
          Device::State{std::move(name), std::move(description), first.engine->name(), std::move(runners)}));
    };
    for (const engines::RegisteredDevice& device : engines::all_devices()) add(device.name, device.runners);
    for (const engines::RegisteredDevice& device : engines::all_devices()) {
      for (const engines::Runner& runner : device.runners) add(runner.engine->name(), {runner});
    }
    return list;
  });
}

}  // namespace

Device Device::cpu() { return Device(device_states().front().get()); }

Device Device::named(std::string_view name) {
  std::string known;
  for (const auto& state : device_states()) {
    if (state->name == name) return Device(state.get());
    known += (known.empty() ? "" : ", ") + state->name;
  }
  std::string reason = engines::reason_without(name);
  if (!reason.empty()) reason = "; " + reason;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no device is named '{}'; there are: {}{}", name, known, reason));
}

Device Device::of_arrays(int kind, int number) {
  const engines::ArrayDevice wanted{kind, number};
  for (const auto& state : device_states()) {
    if (kind != engines::ArrayDevice::host && state->runners.front().hardware->array_device() == wanted) {
      return Device(state.get());
    }
  }
  if (kind != engines::ArrayDevice::cuda) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("no device has arrays of DLPack's device ({}, {})", kind, number));
  }
  std::string reason = "NVIDIA's driver does not show that GPU, or its compute capability is too low";
  if (!engines::has_device("cuda")) {
    reason = engines::reason_without("cuda");
    if (reason.empty()) reason = "NVIDIA's driver (libcuda.so.1) cannot be opened here";
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("kernels cannot run on cuda:{}: {}", number, reason));
}

Device Device::configured() {
  const char* name = std::getenv("METALLOID_DEVICE");
  return name && *name ? named(name) : cpu();
}

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  std::set<const engines::Engine*> listed;
  for (const auto& state : device_states()) {
    if (listed.insert(state->runners.front().engine).second) devices.emplace_back(state.get());
  }
  return devices;
}

std::vector<Device> Device::choices() {
  std::vector<Device> devices;
  for (const auto& state : device_states()) devices.emplace_back(state.get());
  return devices;
}

const std::string& Device::name() const { return state_->name; }
const std::string& Device::description() const { return state_->description; }
const std::string& Device::engine() const { return state_->first_engine; }
Limits Device::limits() const { return state_->runners.front().hardware->limits(); }

Library Device::make_library(std::string_view source, const CompileOptions& options) const {
  auto text = std::make_shared<const SourceText>(SourceText{options.source_name, std::string(source)});
  std::shared_ptr<const Library::State> library;
  auto describe = [&] {
    return Event{.kind = Event::Kind::library,
                 .device = name(),
                 .source = text,
                 .from_cache = library != nullptr && library->from_cache};
  };
  runtime::recorded(describe, [&] { library = runtime::find_or_compile_library(*this, text, options); });
  return Library(std::move(library));
}

Library Device::load_library(const std::filesystem::path& file, CompileOptions options) const {
  constexpr std::size_t most_bytes = std::size_t{64} << 20;  // a device or a pipe may have no end
  std::string source = support::read_file(file, most_bytes);
  options.source_name = file.string();
  options.source_file = file;
  return make_library(source, options);
}

}  // namespace metalloid
