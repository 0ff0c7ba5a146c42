#include "runtime/compile/kernel_cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "engines/registry.h"
#include "metalloid/error.h"
#include "metalloid/version.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/entry_turn.h"
#include "runtime/cache/memory_cache.h"
#include "runtime/compile/archive.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/compile/library_cache.h"
#include "runtime/observe/trace.h"
#include "runtime/states.h"
#include "support/compiler_id.h"
#include "support/fork_safe_mutex.h"

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

using Runners = std::vector<engines::Runner>;

support::Hash key_of(const Library::State& library, const std::vector<Candidate>& candidates, const std::string& kernel,
                     const FunctionConstants& constants, Checks checks) {
  support::Hasher hasher;
  hasher.add(version).add(support::compiler_id());
  for (const Candidate& candidate : candidates) {
    hasher.add(candidate.engine).add(candidate.target);
    hasher.add(candidate.limits.threads_per_threadgroup).add(candidate.limits.threadgroup_memory_bytes);
  }
  hasher.add(static_cast<std::uint32_t>(checks));
  hasher.add(library.content).add(kernel);
  hasher.add(constants.is_lenient()).add(constants.by_index().size());
  for (const auto& [index, value] : constants.by_index()) add_value(hasher.add(index), value);
  hasher.add(constants.by_name().size());
  for (const auto& [name, value] : constants.by_name()) add_value(hasher.add(name), value);
  return hasher.finish();
}

// Loaded code belongs to hardware: what is equal shares what is on disk only.
support::Hash loaded_key_of(const support::Hash& key, const Runners& runners) {
  support::Hasher hasher;
  hasher.add(key);
  for (const engines::Runner& runner : runners) hasher.add(reinterpret_cast<std::uintptr_t>(runner.hardware));
  return hasher.finish();
}

MemoryCache<CompiledKernel>& loaded_kernels = *new MemoryCache<CompiledKernel>(512);

// What the driver makes of code is kept beside it.
class AssemblyOnDisk final : public engines::AssemblyStore {
 public:
  explicit AssemblyOnDisk(const support::Hash& key) : key_(key) {}
  std::optional<std::string> read() const override {
    const auto kept = read_cache_entry(EntryKind::assembled, key_);
    return kept ? std::optional<std::string>(kept->view()) : std::nullopt;
  }
  void write(std::string_view assembly) const override { write_cache_entry(EntryKind::assembled, key_, assembly); }

 private:
  const support::Hash key_;
};

std::unique_ptr<const engines::AssemblyStore> store_for(const engines::Runner& runner, const support::Hash& key) {
  const std::string assembler = runner.engine->assembler_for(*runner.hardware);
  if (assembler.empty() || !cache_folder("")) return nullptr;
  support::Hasher hasher;
  hasher.add(key).add(assembler);
  return std::make_unique<AssemblyOnDisk>(hasher.finish());
}

std::shared_ptr<const CompiledKernel> load(const Runners& runners, CompiledCode& entry, const support::Hash& key) {
  auto kernel = std::make_shared<CompiledKernel>();
  const auto taker =
      std::ranges::find_if(runners, [&](const auto& each) { return each.engine->name() == entry.engine; });
  if (taker == runners.end()) throw Error(ErrorCode::internal, fmt::format("no engine is named '{}'", entry.engine));
  kernel->runner = *taker;
  kernel->executable = taker->engine->load(entry.code, entry.info, *taker->hardware, store_for(*taker, key));
  kernel->info = std::move(entry.info);
  kernel->engine_name = std::move(entry.engine);
  kernel->remarks = std::move(entry.remarks);
  return kernel;
}

std::shared_ptr<const CompiledKernel> from_disk(const Runners& runners, const support::Hash& key) {
  auto bytes = read_cache_entry(EntryKind::kernel, key);
  if (!bytes) return nullptr;
  try {
    CompiledCode entry;
    Reader reader(bytes->view());
    archive(reader, entry);
    return load(runners, entry, key);
  } catch (const std::exception&) {
    return nullptr;
  }
}

struct FoundKernel {
  std::shared_ptr<const CompiledKernel> kernel;
  support::Hash key;
  bool from_cache = true;
};

// `candidates`: the runners with their targets.
FoundKernel find_or_compile(const Library::State& library, const Runners& runners, const std::string& name,
                            const FunctionConstants& constants, Checks checks, std::vector<Candidate> candidates) {
  FoundKernel found;
  found.key = key_of(library, candidates, name, constants, checks);
  const support::Hash loaded_key = loaded_key_of(found.key, runners);
  found.kernel = loaded_kernels.find(loaded_key);
  if (found.kernel) return found;
  std::optional<EntryTurn> turn;
  found.kernel = read_or_take_turn(turn, EntryKind::kernel, found.key, [&] { return from_disk(runners, found.key); });
  if (!found.kernel) {
    found.from_cache = false;
    for (const auto& runner : runners) runner.hardware->expect_code();
    const auto limits = limits_of(library);
    const LibraryCode code = code_with(library, name, limits);
    CompiledCode entry = compile_kernel(code.bitcode, *code.info, find_kernel(*code.info, name), constants,
                                        std::move(candidates), limits, Emit::object, checks);
    Writer writer;
    archive(writer, entry);
    write_cache_entry(EntryKind::kernel, found.key, writer.take());
    found.kernel = load(runners, entry, found.key);
  }
  loaded_kernels.insert(loaded_key, found.kernel);
  return found;
}

// Kernels that are not to be screened, by key.
class Refused {
 public:
  bool has(const support::Hash& key) const {
    const std::lock_guard lock(mutex_);
    return keys_.contains(key);
  }
  void add(const support::Hash& key) {
    const std::lock_guard lock(mutex_);
    keys_.insert(key);
  }

 private:
  mutable support::ForkSafeMutex mutex_;
  std::set<support::Hash> keys_;
};
Refused& refused = *new Refused;

// Checked kernels, and code that few dispatches need, are compiled when they are first launched, which many threads may
// do at once: one compiles, and the others look again when it is done. They sleep in between, since a forked child has
// none of those threads, and goes on.
class Turn {
 public:
  explicit Turn(const support::Hash& key) : key_(key) {
    while (!begin()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Turn() {
    const std::lock_guard lock(all_.mutex);
    all_.processes.erase(key_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  struct All {
    support::ForkSafeMutex mutex;
    std::map<support::Hash, pid_t> processes;  // whose thread compiles that kernel
  };
  static All& all_;

  bool begin() {
    const std::lock_guard lock(all_.mutex);
    const pid_t process = ::getpid();
    const auto [turn, is_free] = all_.processes.try_emplace(key_, process);
    return is_free || std::exchange(turn->second, process) != process;
  }
  const support::Hash key_;
};
Turn::All& Turn::all_ = *new All;

Checks checks_for(bool finite) { return finite ? Checks::with_finite : Checks::standard; }

}  // namespace

std::shared_ptr<const Kernel::State> find_or_compile_kernel(std::shared_ptr<const Library::State> library,
                                                            const KernelInfo& kernel,
                                                            const FunctionConstants& constants) {
  auto state = std::make_shared<Kernel::State>();
  state->device = library->device;
  state->source = library->source;
  FoundKernel found = find_or_compile(*library, library->device->runners, kernel.name, constants, Checks::none,
                                      candidates_of(library->device->runners, Coverage::usual));
  state->content = found.key;
  state->from_cache = found.from_cache;
  state->compiled = std::move(found.kernel);
  state->library = std::move(library);
  state->constants = constants;
  return state;
}

namespace {

// The kernel has code that does, if slower: what goes wrong is told, and no more.
void make_sized(const Kernel::State& kernel, const Runners& runners, std::vector<Candidate> candidates,
                SizedCode& sized) {
  const std::string& name = kernel.compiled->info.name;
  const auto begin = TraceClock::now();
  Event event{.kind = Event::Kind::kernel,
              .device = kernel.device->name,
              .kernel = name,
              .source = kernel.source,
              .threads_per_threadgroup = sized.threads};
  try {
    FoundKernel found =
        find_or_compile(*kernel.library, runners, name, kernel.constants, Checks::none, std::move(candidates));
    event.from_cache = found.from_cache;
    sized.code = std::move(found.kernel);
  } catch (const Error& error) {
    event.error = error.code();
    event.message = error.what();
    const Size& threads = sized.threads;
    sized.remark = Remark{.engine = kernel.compiled->engine_name,
                          .reason = fmt::format("no code for threadgroups of {} x {} x {} threads alone: {}", threads.x,
                                                threads.y, threads.z, error.what()),
                          .source_file = {}};
  }
  if (is_tracing()) add_to_trace(event, begin, TraceClock::now());
}

struct CodeForSize {
  const CompiledKernel* code = nullptr;
  bool is_wanted = false;  // nobody has asked before, and there is room
};

CodeForSize code_for_size(const Kernel::State& kernel, const Size& threads) {
  const std::size_t sizes = kernel.sizes.load(std::memory_order_acquire);
  for (const SizedCode& sized : std::span(kernel.sized).first(sizes)) {
    if (sized.threads == threads) return {.code = sized.code.get()};
  }
  return {.is_wanted = sizes < kernel.sized.size()};
}

// Sizes come one after the other.
void make_code_for_size(const Kernel::State& kernel, const Size& threads) {
  const Turn turn(kernel.content);
  if (!code_for_size(kernel, threads).is_wanted) return;
  const Runners runners = {kernel.compiled->runner};
  std::vector<Candidate> candidates = candidates_of(runners);
  candidates.front().target = runners.front().engine->target_for_size(*runners.front().hardware, threads);
  const std::size_t sizes = kernel.sizes.load();
  SizedCode& sized = kernel.sized[sizes];
  sized.threads = threads;
  make_sized(kernel, runners, std::move(candidates), sized);
  kernel.sizes.store(sizes + 1, std::memory_order_release);
}

void make_later_code(const Kernel::State& kernel, const Runners& runners, std::vector<Candidate> candidates,
                     LaterCode& code) {
  const std::string& name = kernel.compiled->info.name;
  const Turn turn(key_of(*kernel.library, candidates, name, kernel.constants, Checks::none));
  if (code.ready.load()) return;
  code.owner =
      find_or_compile(*kernel.library, runners, name, kernel.constants, Checks::none, std::move(candidates)).kernel;
  code.ready.store(code.owner.get(), std::memory_order_release);
}

void make_overlapping_code(const Kernel::State& kernel) {
  const Runners runners = {kernel.compiled->runner};
  std::vector<Candidate> candidates = candidates_of(runners);
  candidates.front().target = runners.front().engine->target_for_overlaps(*runners.front().hardware);
  make_later_code(kernel, runners, std::move(candidates), kernel.overlapping);
}

void make_complete_code(const Kernel::State& kernel) {
  const Runners& runners = kernel.library->device->runners;
  make_later_code(kernel, runners, candidates_of(runners), kernel.complete);
}

}  // namespace

const CompiledKernel* ready_code_for(const Kernel::State& kernel, const engines::DispatchPlan& plan) {
  const engines::Executable& own = *kernel.compiled->executable;
  if (own.gains_by_size(plan)) {
    const CodeForSize found = code_for_size(kernel, plan.threads_per_threadgroup);
    if (found.is_wanted) return nullptr;
    if (found.code && found.code->executable->takes(plan)) return found.code;
  }
  if (own.takes(plan)) return kernel.compiled.get();
  if (own.takes_but_for_overlaps(plan)) {
    const CompiledKernel* overlapping = kernel.overlapping.ready.load(std::memory_order_acquire);
    if (!overlapping || overlapping->executable->takes(plan)) return overlapping;
  }
  return kernel.complete.ready.load(std::memory_order_acquire);
}

const CompiledKernel& code_for(const Kernel::State& kernel, const engines::DispatchPlan& plan) {
  const engines::Executable& own = *kernel.compiled->executable;
  if (const CompiledKernel* ready = ready_code_for(kernel, plan)) return *ready;
  if (own.gains_by_size(plan)) {
    make_code_for_size(kernel, plan.threads_per_threadgroup);
  } else if (own.takes_but_for_overlaps(plan)) {
    make_overlapping_code(kernel);
  }
  if (const CompiledKernel* ready = ready_code_for(kernel, plan)) return *ready;
  make_complete_code(kernel);
  return *kernel.complete.ready.load();
}

std::shared_ptr<const CompiledKernel> find_or_compile_checked(const Kernel::State& kernel, bool finite) {
  static const Runners runners = engines::runners_that(engines::CheckRole::tells);
  const std::string& name = kernel.compiled->info.name;
  const Checks checks = checks_for(finite);
  const support::Hash key = key_of(*kernel.library, candidates_of(runners), name, kernel.constants, checks);
  if (auto known = loaded_kernels.find(loaded_key_of(key, runners))) return known;
  const Turn turn(key);
  return find_or_compile(*kernel.library, runners, name, kernel.constants, checks, candidates_of(runners)).kernel;
}

std::shared_ptr<const CompiledKernel> find_or_compile_screened(const Kernel::State& kernel, bool finite) {
  static const Runners runners = engines::runners_that(engines::CheckRole::screens);
  const std::string& name = kernel.compiled->info.name;
  const Checks checks = checks_for(finite);
  const support::Hash key = key_of(*kernel.library, candidates_of(runners), name, kernel.constants, checks);
  if (runners.empty() || refused.has(key)) return nullptr;
  if (auto known = loaded_kernels.find(loaded_key_of(key, runners))) return known;
  const Turn turn(key);
  if (refused.has(key)) return nullptr;
  try {
    return find_or_compile(*kernel.library, runners, name, kernel.constants, checks, candidates_of(runners)).kernel;
  } catch (const Error&) {
    refused.add(key);
    return nullptr;
  }
}

}  // namespace metalloid::runtime
