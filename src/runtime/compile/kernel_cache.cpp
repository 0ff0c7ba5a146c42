#include "runtime/compile/kernel_cache.h"

#include <fmt/format.h>

#include <cstdint>

#include "metalloid/error.h"
#include "metalloid/version.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/memory_cache.h"
#include "runtime/compile/archive.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/compile/library_cache.h"
#include "runtime/states.h"
#include "support/build_id.h"

namespace metalloid::runtime {
namespace {

void add_value(support::Hasher& hasher, const FunctionConstants::Value& value) {
  hasher.add(value.index());
  std::visit(
      [&](const auto& held) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
          hasher.add(held);
        } else {
          hasher.add(held.size());
          for (auto element : held) hasher.add(element);
        }
      },
      value);
}

support::Hash key_of(const Library::State& library, const KernelInfo& kernel, const FunctionConstants& constants) {
  support::Hasher hasher;
  hasher.add(version).add(support::build_id());
  for (const engines::Engine* engine : library.device->engines) hasher.add(engine->target());
  hasher.add(library.content).add(kernel.name);
  hasher.add(constants.by_index().size());
  for (const auto& [index, value] : constants.by_index()) add_value(hasher.add(index), value);
  hasher.add(constants.by_name().size());
  for (const auto& [name, value] : constants.by_name()) add_value(hasher.add(name), value);
  return hasher.finish();
}

// Loaded code belongs to its engines' hardware: equal hardware shares what is on disk only.
support::Hash loaded_key_of(const support::Hash& key, const Device::State& device) {
  support::Hasher hasher;
  hasher.add(key);
  for (const engines::Engine* engine : device.engines) hasher.add(reinterpret_cast<std::uintptr_t>(engine));
  return hasher.finish();
}

MemoryCache<CompiledKernel>& memory_cache = *new MemoryCache<CompiledKernel>(512);

std::shared_ptr<const CompiledKernel> load(const Library::State& library, CompiledCode& entry) {
  auto kernel = std::make_shared<CompiledKernel>();
  for (const engines::Engine* engine : library.device->engines) {
    if (engine->name() == entry.engine) kernel->engine = engine;
  }
  if (!kernel->engine) throw Error(ErrorCode::internal, fmt::format("no engine is named '{}'", entry.engine));
  kernel->executable = kernel->engine->load(entry.code, entry.info);
  kernel->info = std::move(entry.info);
  kernel->engine_name = std::move(entry.engine);
  kernel->remarks = std::move(entry.remarks);
  return kernel;
}

std::shared_ptr<const CompiledKernel> from_disk(const Library::State& library, const support::Hash& key) {
  auto bytes = read_cache_entry(EntryKind::kernel, key);
  if (!bytes) return nullptr;
  try {
    CompiledCode entry;
    Reader reader(bytes->view());
    archive(reader, entry);
    return load(library, entry);
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<const Kernel::State> find_or_compile_kernel(const Library::State& library, const KernelInfo& kernel,
                                                            const FunctionConstants& constants) {
  auto state = std::make_shared<Kernel::State>();
  state->device = library.device;
  state->source = library.source;
  state->from_cache = true;
  const support::Hash key = key_of(library, kernel, constants);
  state->content = key;
  const support::Hash loaded_key = loaded_key_of(key, *library.device);
  state->compiled = memory_cache.find(loaded_key);
  if (state->compiled) return state;
  state->compiled = from_disk(library, key);
  if (!state->compiled) {
    state->from_cache = false;
    const auto limits = limits_of(library);
    const LibraryCode code = code_with(library, kernel.name, limits);
    CompiledCode entry = compile_kernel(code.bitcode, *code.info, find_kernel(*code.info, kernel.name), constants,
                                        library.device->engines, limits);
    Writer writer;
    archive(writer, entry);
    write_cache_entry(EntryKind::kernel, key, writer.take());
    state->compiled = load(library, entry);
  }
  memory_cache.insert(loaded_key, state->compiled);
  return state;
}

}  // namespace metalloid::runtime
