// Devices, and how they make libraries.
#include "metalloid/device.h"

#include <fmt/format.h>

#include "engines/registry.h"
#include "runtime/library_cache.h"
#include "runtime/recorder.h"
#include "runtime/states.h"
#include "support/files.h"

namespace metalloid {
namespace {

// "cpu" is the best engine for this machine's processor; each engine also goes by its own name.
const std::vector<std::unique_ptr<Device::State>>& device_states() {
  static const auto* states = [] {
    auto* list = new std::vector<std::unique_ptr<Device::State>>;
    const auto& engines = engines::all_engines();
    list->push_back(std::make_unique<Device::State>(Device::State{
        "cpu",
        "the fastest engine for this processor: " + engines.front()->name() + ", " + engines.front()->description(),
        engines.front().get()}));
    for (const auto& engine : engines) {
      list->push_back(
          std::make_unique<Device::State>(Device::State{engine->name(), engine->description(), engine.get()}));
    }
    return list;
  }();
  return *states;
}

}  // namespace

Device Device::cpu() { return Device(device_states().front().get()); }

Device Device::named(std::string_view name) {
  std::string known;
  for (const auto& state : device_states()) {
    if (state->name == name) return Device(state.get());
    known += (known.empty() ? "" : ", ") + state->name;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("no device is named '{}'; there are: {}", name, known));
}

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  for (const auto& state : device_states()) devices.emplace_back(state.get());
  return devices;
}

const std::string& Device::name() const { return state_->name; }
const std::string& Device::description() const { return state_->description; }
std::string Device::engine() const { return state_->engine->name(); }

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
