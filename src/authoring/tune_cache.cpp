#include "authoring/tune_cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/disk_cache.h"
#include "runtime/memory_cache.h"
#include "runtime/states.h"

namespace metalloid {
namespace tuning {
namespace {

using Json = nlohmann::ordered_json;
using runtime::EntryKind;

runtime::MemoryCache<TuneResult>& memory_cache() {
  static auto* cache = new runtime::MemoryCache<TuneResult>(512);
  return *cache;
}

const ArgumentInfo* find_argument(const Kernel& kernel, std::uint32_t index) {
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    const bool takes_memory = argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor;
    if (takes_memory && argument.index == index) return &argument;
  }
  return nullptr;
}

bool is_floating(ScalarKind kind) {
  return kind == ScalarKind::float16 || kind == ScalarKind::bfloat16 || kind == ScalarKind::float32;
}

// An integer that a host has bound by value; little-endian, so a wider one than the kernel's begins alike.
std::int64_t integer_at(ScalarKind kind, const std::byte* address) {
  std::uint64_t bits = 0;
  const std::size_t size = size_of(kind);
  std::memcpy(&bits, address, size);
  const bool is_signed = kind == ScalarKind::int8 || kind == ScalarKind::int16 || kind == ScalarKind::int32;
  const std::size_t unused = 8 * (sizeof bits - size);
  return is_signed ? static_cast<std::int64_t>(bits << unused) >> unused : static_cast<std::int64_t>(bits);
}

void add(support::Hasher& hasher, Size size) { hasher.add(size.x).add(size.y).add(size.z); }

// Bytes of a buffer binding behind its offset.
std::size_t length(const Dispatch::Binding& binding) {
  if (const auto* bytes = std::get_if<Dispatch::Bytes>(&binding)) return bytes->size();
  if (const auto* plain = std::get_if<Dispatch::BufferBinding>(&binding)) {
    return plain->buffer.size() - std::min(plain->offset, plain->buffer.size());
  }
  const auto& tensor = std::get<Dispatch::TensorBinding>(binding);
  return tensor.buffer.size() - std::min(tensor.offset, tensor.buffer.size());
}

Json to_json(const TuneResult& result, const std::string& arguments) {
  Json json{
      {"kernel", result.kernel},
      {"device", result.device},
      {"grid", {result.grid.x, result.grid.y, result.grid.z}},
      {"grid_counts_threads", result.grid_counts_threads},
      {"arguments", arguments},
      {"when", fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()))},
      {"chosen", result.chosen},
      {"standard", result.standard ? Json(*result.standard) : Json()},
      {"margin", result.margin},
      {"results_vary", result.results_vary},
      {"trials", Json::array()}};
  for (const TuneTrial& trial : result.trials) {
    json["trials"].push_back({{"group", {trial.group.x, trial.group.y, trial.group.z}},
                              {"outcome", static_cast<int>(trial.outcome)},
                              {"seconds", trial.seconds},
                              {"spread", trial.spread},
                              {"runs", trial.runs},
                              {"note", trial.note}});
  }
  return json;
}

Size size_from(const Json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(), json.at(2).get<std::uint32_t>()};
}

// Throws what nlohmann::json throws, and out_of_range.
CachedTuning from_json(std::string_view text) {
  const Json json = Json::parse(text);
  CachedTuning cached;
  TuneResult& result = cached.result;
  cached.arguments = json.at("arguments").get<std::string>();
  cached.when = json.at("when").get<std::string>();
  result.kernel = json.at("kernel").get<std::string>();
  result.device = json.at("device").get<std::string>();
  result.grid = size_from(json.at("grid"));
  result.grid_counts_threads = json.at("grid_counts_threads").get<bool>();
  result.chosen = json.at("chosen").get<std::size_t>();
  if (!json.at("standard").is_null()) result.standard = json.at("standard").get<std::size_t>();
  result.margin = json.at("margin").get<double>();
  result.results_vary = json.at("results_vary").get<bool>();
  for (const Json& entry : json.at("trials")) {
    result.trials.push_back({.group = size_from(entry.at("group")),
                             .outcome = static_cast<TuneTrial::Outcome>(entry.at("outcome").get<int>()),
                             .seconds = entry.at("seconds").get<double>(),
                             .spread = entry.at("spread").get<double>(),
                             .runs = entry.at("runs").get<std::uint32_t>(),
                             .note = entry.at("note").get<std::string>()});
  }
  if (result.chosen >= result.trials.size()) throw std::out_of_range("chosen");
  result.from_cache = true;
  return cached;
}

}  // namespace

support::Hash key_of(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options,
                     std::span<const Size> candidates) {
  support::Hasher hasher;
  const engines::Engine& engine = *kernel.state().device->engine;
  hasher.add(engine.name()).add(engine.description()).add(kernel.state().content);
  hasher.add(dispatch.grid_counts_threads());
  add(hasher, dispatch.grid());
  add(hasher, dispatch.group());
  hasher.add(dispatch.bindings().size());
  for (const auto& [index, binding] : dispatch.bindings()) {
    hasher.add(index).add(binding.index()).add(length(binding));
    const ArgumentInfo* info = find_argument(kernel, index);
    if (const auto* bytes = std::get_if<Dispatch::Bytes>(&binding)) {
      if (!info || !is_floating(info->type.scalar)) {
        hasher.add(std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
      }
    } else if (const auto* tensor = std::get_if<Dispatch::TensorBinding>(&binding)) {
      hasher.add(tensor->extents.size());
      for (const std::int64_t extent : tensor->extents) hasher.add(extent);
      for (const std::int64_t stride : tensor->strides) hasher.add(stride);
    }
  }
  hasher.add(options.contents.size());
  for (const auto& [index, contents] : options.contents) {
    hasher.add(index).add(contents.elements).add(contents.shape.size());
    for (const std::int64_t extent : contents.shape) hasher.add(extent);
  }
  for (const auto* lengths : {&dispatch.threadgroup_memory_lengths(), &options.threadgroup_memory_per_thread}) {
    hasher.add(lengths->size());
    for (const auto& [index, bytes] : *lengths) hasher.add(index).add(bytes);
  }
  hasher.add(candidates.size());
  for (const Size& size : candidates) add(hasher, size);
  hasher.add(options.candidates.empty()).add(options.margin).add(options.compare).add(options.tolerance.value_or(-1));
  return hasher.finish();
}

std::string describe_arguments(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  std::string text;
  for (const auto& [index, binding] : dispatch.bindings()) {
    const ArgumentInfo* info = find_argument(kernel, index);
    if (!info) continue;
    const auto contents = options.contents.find(index);
    ScalarKind elements = info->type.scalar;
    if (contents != options.contents.end() && contents->second.elements != ScalarKind::none) {
      elements = contents->second.elements;
    }
    const auto* bytes = std::get_if<Dispatch::Bytes>(&binding);
    const std::size_t size = length(binding);
    text += text.empty() ? "" : ", ";
    const bool is_number = bytes && info->is_reference && info->type.rows * info->type.columns == 1;
    if (is_number && (is_floating(elements) || elements == ScalarKind::none)) {
      text += fmt::format("{} {}", info->name, info->type.name);
    } else if (is_number) {
      text += fmt::format("{} {}", info->name, integer_at(elements, bytes->data()));
    } else if (contents != options.contents.end() && !contents->second.shape.empty()) {
      text += fmt::format("{} {}[{}]", info->name, name_of(elements), fmt::join(contents->second.shape, ","));
    } else if (elements != ScalarKind::none) {
      text += fmt::format("{} {}[{}]", info->name, name_of(elements), size / size_of(elements));
    } else {
      text += fmt::format("{} {} bytes", info->name, size);
    }
  }
  return text;
}

std::optional<TuneResult> find(const support::Hash& key) {
  if (auto known = memory_cache().find(key)) return *known;
  const auto payload = runtime::read_cache_entry(EntryKind::tuning, key);
  if (!payload) return std::nullopt;
  try {
    TuneResult result = from_json(*payload).result;
    memory_cache().insert(key, std::make_shared<const TuneResult>(result));
    return result;
  } catch (const std::exception&) {
    return std::nullopt;  // written by another version
  }
}

void remember(const support::Hash& key, const TuneResult& result, const std::string& arguments) {
  auto kept = std::make_shared<TuneResult>(result);
  kept->from_cache = true;
  memory_cache().insert(key, std::move(kept));
  runtime::write_cache_entry(EntryKind::tuning, key, to_json(result, arguments).dump(1));
}

void forget() { memory_cache().clear(); }

}  // namespace tuning

std::vector<CachedTuning> cached_tunings() {
  std::vector<CachedTuning> tunings;
  for (const std::string& payload : runtime::read_cache_entries(runtime::EntryKind::tuning)) {
    try {
      tunings.push_back(tuning::from_json(payload));
    } catch (const std::exception&) {
      continue;
    }
  }
  std::ranges::sort(tunings, std::ranges::greater(), &CachedTuning::when);
  return tunings;
}

std::size_t clear_cached_tunings() {
  tuning::forget();
  return runtime::remove_cache_entries(runtime::EntryKind::tuning);
}

}  // namespace metalloid
