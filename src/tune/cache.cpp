#include "tune/cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/cache/disk_cache.h"
#include "runtime/cache/memory_cache.h"
#include "runtime/states.h"
#include "support/build_id.h"
#include "tune/arguments.h"

namespace metalloid {
namespace tuning {
namespace {

using Json = nlohmann::ordered_json;
using runtime::EntryKind;

// A file's entries, oldest first; at most so many.
constexpr std::size_t most_entries = 16;

struct Entry {
  std::string options;  // hash of what was asked for
  CachedTuning tuning;
};
using Entries = std::vector<Entry>;

runtime::MemoryCache<Entries>& memory_cache = *new runtime::MemoryCache<Entries>(512);

const ArgumentInfo* find_argument(const Kernel& kernel, std::uint32_t index) {
  for (const ArgumentInfo& argument : kernel.info().arguments) {
    const bool takes_memory = argument.kind == ArgumentKind::buffer || argument.kind == ArgumentKind::tensor;
    if (takes_memory && argument.index == index) return &argument;
  }
  return nullptr;
}

void add(support::Hasher& hasher, Size size) { hasher.add(size.x).add(size.y).add(size.z); }

// Bytes of a buffer binding behind its offset.
std::size_t length(const Dispatch::Binding& binding) {
  if (const auto* bytes = std::get_if<Dispatch::Bytes>(&binding)) return bytes->value().size();
  if (const auto* plain = std::get_if<Dispatch::BufferBinding>(&binding)) {
    return plain->buffer.size() - std::min(plain->offset, plain->buffer.size());
  }
  const auto& tensor = std::get<Dispatch::TensorBinding>(binding);
  return tensor.buffer.size() - std::min(tensor.offset, tensor.buffer.size());
}

Json to_json(const Entry& entry) {
  const TuneResult& result = entry.tuning.result;
  Json json{{"options", entry.options},
            {"kernel", result.kernel},
            {"device", result.device},
            {"grid", {result.grid.x, result.grid.y, result.grid.z}},
            {"grid_counts_threads", result.grid_counts_threads},
            {"build", support::build_id()},
            {"arguments", entry.tuning.arguments},
            {"when", entry.tuning.when},
            {"chosen", result.chosen},
            {"standard", result.standard ? Json(*result.standard) : Json()},
            {"margin", result.margin},
            {"compared", result.compared},
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
Entry from_json(const Json& json) {
  Entry entry{json.at("options").get<std::string>(), {}};
  CachedTuning& cached = entry.tuning;
  TuneResult& result = cached.result;
  cached.arguments = json.at("arguments").get<std::string>();
  cached.when = json.at("when").get<std::string>();
  cached.of_this_build = json.value("build", "") == support::build_id();
  result.kernel = json.at("kernel").get<std::string>();
  result.device = json.at("device").get<std::string>();
  result.grid = size_from(json.at("grid"));
  result.grid_counts_threads = json.at("grid_counts_threads").get<bool>();
  result.chosen = json.at("chosen").get<std::size_t>();
  if (!json.at("standard").is_null()) result.standard = json.at("standard").get<std::size_t>();
  result.margin = json.at("margin").get<double>();
  result.compared = json.at("compared").get<bool>();
  result.results_vary = json.at("results_vary").get<bool>();
  for (const Json& trial : json.at("trials")) {
    result.trials.push_back({.group = size_from(trial.at("group")),
                             .outcome = static_cast<TuneTrial::Outcome>(trial.at("outcome").get<int>()),
                             .seconds = trial.at("seconds").get<double>(),
                             .spread = trial.at("spread").get<double>(),
                             .runs = trial.at("runs").get<std::uint32_t>(),
                             .note = trial.at("note").get<std::string>()});
  }
  if (result.chosen >= result.trials.size()) throw std::out_of_range("chosen");
  result.from_cache = true;
  return entry;
}

// Nothing for a payload that another version wrote.
Entries parse(std::string_view payload) {
  try {
    Entries entries;
    for (const Json& json : Json::parse(payload)) entries.push_back(from_json(json));
    return entries;
  } catch (const std::exception&) {
    return {};
  }
}

Entries on_disk(const support::Hash& key) {
  const auto payload = runtime::read_cache_entry(EntryKind::tuning, key);
  return payload ? parse(std::string(payload->view())) : Entries();
}

// Asks memory, then the disk, where another process may have left more.
template <typename Wanted>
std::optional<TuneResult> find_last(const support::Hash& key, Wanted wanted) {
  auto last_in = [&](const Entries& entries) -> std::optional<TuneResult> {
    const auto found = std::find_if(entries.rbegin(), entries.rend(), wanted);
    return found == entries.rend() ? std::nullopt : std::optional(found->tuning.result);
  };
  if (auto known = memory_cache.find(key)) {
    if (auto result = last_in(*known)) return result;
  }
  auto entries = std::make_shared<const Entries>(on_disk(key));
  auto result = last_in(*entries);
  if (result) memory_cache.insert(key, std::move(entries));
  return result;
}

}  // namespace

support::Hash key_of(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options) {
  support::Hasher hasher;
  const engines::Runner& runner = kernel.state().compiled->runner;
  hasher.add(runner.engine->name()).add(runner.description()).add(kernel.state().content);
  hasher.add(dispatch.grid_counts_threads());
  add(hasher, dispatch.grid());
  hasher.add(dispatch.bindings().size());
  for (const auto& [index, binding] : dispatch.bindings()) {
    hasher.add(index).add(binding.index()).add(length(binding));
    const ArgumentInfo* info = find_argument(kernel, index);
    if (const auto* bytes = std::get_if<Dispatch::Bytes>(&binding)) {
      if (!info || !is_floating(info->type.scalar)) {
        const std::span<const std::byte> value = bytes->value();
        hasher.add(std::string_view(reinterpret_cast<const char*>(value.data()), value.size()));
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
  hasher.add(options.threadgroup_memory_per_thread.size());
  for (const auto& [index, bytes] : options.threadgroup_memory_per_thread) hasher.add(index).add(bytes);
  for (const auto& [index, bytes] : dispatch.threadgroup_memory_lengths()) {
    if (!options.threadgroup_memory_per_thread.contains(index)) hasher.add(index).add(bytes);
  }
  return hasher.finish();
}

support::Hash options_key(const Dispatch& dispatch, const TuneOptions& options, std::span<const Size> candidates) {
  support::Hasher hasher;
  add(hasher, dispatch.group());
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
    ElementType elements = info->type.scalar;
    if (contents != options.contents.end() && contents->second.elements != ElementType::none) {
      elements = contents->second.elements;
    }
    const auto* bytes = std::get_if<Dispatch::Bytes>(&binding);
    const std::size_t size = length(binding);
    text += text.empty() ? "" : ", ";
    const bool is_number = bytes && info->is_reference && info->type.rows * info->type.columns == 1;
    if (is_number && (is_floating(elements) || elements == ElementType::none)) {
      text += fmt::format("{} {}", info->name, info->type.name);
    } else if (is_number) {
      // Little-endian, so a wider integer than the kernel's begins alike.
      text += fmt::format("{} {}", info->name, element_text(elements, bytes->value().data()));
    } else if (contents != options.contents.end() && !contents->second.shape.empty()) {
      text += fmt::format("{} {}[{}]", info->name, name_of(elements), fmt::join(contents->second.shape, ","));
    } else if (elements != ElementType::none) {
      text += fmt::format("{} {}[{}]", info->name, name_of(elements), size / size_of(elements));
    } else {
      text += fmt::format("{} {} bytes", info->name, size);
    }
  }
  return text;
}

std::optional<TuneResult> find(const support::Hash& key, const support::Hash& options) {
  return find_last(key, [text = options.hex()](const Entry& entry) { return entry.options == text; });
}

std::optional<TuneResult> find_newest(const support::Hash& key) {
  return find_last(key, [](const Entry& entry) { return entry.tuning.result.compared; });
}

void remember(const support::Hash& key, const support::Hash& options, const TuneResult& result,
              const std::string& arguments) {
  Entry entry{options.hex(), {result, arguments, {}}};
  entry.tuning.result.from_cache = true;
  entry.tuning.when =
      fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  Entries entries = on_disk(key);
  if (entries.empty()) {
    if (auto known = memory_cache.find(key)) entries = *known;  // the disk cache may be off
  }
  std::erase_if(entries, [&](const Entry& other) { return other.options == entry.options; });
  if (entries.size() >= most_entries) entries.erase(entries.begin());
  entries.push_back(std::move(entry));
  Json json = Json::array();
  for (const Entry& each : entries) json.push_back(to_json(each));
  runtime::write_cache_entry(EntryKind::tuning, key, json.dump(1));
  memory_cache.insert(key, std::make_shared<const Entries>(std::move(entries)));
}

void forget() { memory_cache.clear(); }

}  // namespace tuning

std::vector<CachedTuning> cached_tunings() {
  std::vector<CachedTuning> tunings;
  for (const std::string& payload : runtime::read_cache_entries(runtime::EntryKind::tuning)) {
    for (tuning::Entry& entry : tuning::parse(payload)) tunings.push_back(std::move(entry.tuning));
  }
  std::ranges::sort(tunings, std::ranges::greater(), &CachedTuning::when);
  return tunings;
}

std::size_t clear_cached_tunings() {
  tuning::forget();
  return runtime::remove_cache_entries(runtime::EntryKind::tuning);
}

}  // namespace metalloid
