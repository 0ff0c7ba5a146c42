#include "engines/cuda/run/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string>

#include "engines/cuda/run/launch_shape.h"
#include "engines/cuda/run/messages.h"
#include "engines/cuda/run/report.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

using Triple = std::array<std::uint32_t, 3>;

// The driver takes parameters as one block of memory: an address, a size and the end.
constexpr std::uintptr_t parameters_follow = 1, size_follows = 2;

Triple triple(const Size& size) { return {size.x, size.y, size.z}; }

void put(std::uint32_t (&to)[3], const Triple& from) { std::ranges::copy(from, to); }

// A launch's parameters on their way to the driver.
class Parameters {
 public:
  Parameters(const KernelFacts& facts, const std::vector<ArgumentInfo>& arguments)
      : size_(facts.parameter_bytes), used_(place_of_inline_bytes(arguments.size())), next_reference_(used_) {
    std::memset(bytes_.data(), 0, used_);
    for (const ArgumentInfo& argument : arguments) used_ += room_for_reference(argument);
  }

  LaunchHead& head() { return *reinterpret_cast<LaunchHead*>(bytes_.data()); }
  ArgumentSlot& slot(std::size_t i) {
    return *reinterpret_cast<ArgumentSlot*>(bytes_.data() + sizeof(LaunchHead) + i * sizeof(ArgumentSlot));
  }
  // Of each reference in turn: where its bytes lie, which are to be; 0 if there is no room.
  std::uint64_t next_reference(const ArgumentInfo& argument) {
    const std::size_t room = room_for_reference(argument), place = next_reference_;
    next_reference_ += room;
    return room != 0 && next_reference_ <= size_ ? place : 0;
  }
  std::uint64_t add_at(std::uint64_t place, std::span<const std::byte> bytes) {
    if (place != 0) std::memcpy(bytes_.data() + place, bytes.data(), bytes.size());
    return place;
  }
  // Where the bytes are among the parameters; 0 if there is no room.
  std::uint64_t add(const void* bytes, std::size_t size) {
    const std::size_t place = (used_ + inline_alignment - 1) / inline_alignment * inline_alignment;
    if (place > size_ || size > size_ - place) return 0;
    std::memcpy(bytes_.data() + place, bytes, size);
    used_ = place + size;
    return place;
  }
  std::byte* data() { return bytes_.data(); }
  std::size_t size() const { return size_; }

 private:
  alignas(16) std::array<std::byte, most_parameter_bytes> bytes_;
  std::size_t size_, used_, next_reference_;
};

// Copies in the GPU's memory for one launch, made and let go in the stream's order.
class Copies {
 public:
  Copies(Handle stream, const KernelInfo& kernel) : stream_(stream), kernel_(kernel) {}
  ~Copies() {
    for (const Address address : addresses_) driver().release_later(address, stream_);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  Address add(std::span<const std::byte> bytes) {
    if (is_captured(stream_)) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("kernel '{}' gets bytes from the host that are copied at each launch, and its stream is "
                      "being captured into a graph, which would read them again later; give it memory of the GPU",
                      kernel_.name));
    }
    Address address = 0;
    driver().check(driver().allocate_later(&address, std::max(bytes.size(), std::size_t{1}), stream_), "an allocation");
    addresses_.push_back(address);
    // Returns when the host's bytes are no longer needed: they are of memory that can be paged out.
    driver().check(driver().copy_in_later(address, bytes.data(), bytes.size(), stream_), "a copy");
    return address;
  }

 private:
  const Handle stream_;
  const KernelInfo& kernel_;
  std::vector<Address> addresses_;
};

class TimingEvent {
 public:
  TimingEvent() { driver().check(driver().event_create(&handle_, 0), "an event"); }
  ~TimingEvent() { driver().event_destroy(handle_); }
  TimingEvent(const TimingEvent&) = delete;
  TimingEvent& operator=(const TimingEvent&) = delete;

  Handle handle() const { return handle_; }
  void record(Handle stream) const { driver().check(driver().event_record(handle_, stream), "an event"); }

 private:
  Handle handle_ = nullptr;
};

bool may_lie_in_parameters(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant;
}

}  // namespace

Launch::Launch(const GpuExecutable& executable, const DispatchPlan& plan, Gpu& gpu, Queue& queue, std::uint32_t calls)
    : executable_(executable),
      gpu_(gpu),
      queue_(queue),
      threads_per_grid_(plan.threads_per_grid),
      threads_per_threadgroup_(plan.threads_per_threadgroup),
      timeout_(plan.timeout),
      slot_(queue.take()) {
  try {
    const auto entered = gpu.enter();
    if (executable.logs()) make_room_for_messages(slot_.report);
    // What is in front has ended when a kernel runs for too long.
    if (executable.may_not_end()) queue.mark_ends();
    for (std::uint32_t call = 0; call < calls; ++call) executable.launch(plan, queue.handle(), slot_);
    queue.count(slot_);
    if (executable.may_not_end()) queue.mark_ends();
  } catch (...) {
    queue.give_back(slot_);
    throw;
  }
}

Launch::~Launch() { queue_.give_back(slot_); }

// By the watching thread.
void Launch::stop() noexcept {
  stop_.make();
  slot_.host->stop = 1;
}

bool Launch::is_done() const {
  if (queue_.is_ended(slot_)) return true;
  gpu_.require();
  return false;
}

// Asks the driver now and then, which knows if the GPU failed.
void Launch::wait_for_end(const support::WatchdogTimer& timer) {
  constexpr auto rarely = std::chrono::milliseconds(2);
  auto next_question = std::chrono::steady_clock::now() + rarely;
  wait_until([&] {
    if (is_done()) return true;
    if (std::chrono::steady_clock::now() < next_question) return false;
    if (queue_.is_idle()) return true;
    if (stop_.is_ignored()) throw_endless(gpu_, executable_.info(), timer.interrupted(), timeout_);
    next_question = std::chrono::steady_clock::now() + rarely;
    return false;
  });
}

void Launch::wait() {
  bool is_interrupted = false;
  if (!is_done()) {
    const auto entered = gpu_.enter();
    queue_.mark_ends_between_launches(slot_);
    const support::WatchdogTimer timer([this] { stop(); }, timeout_);
    wait_for_end(timer);
    is_interrupted = timer.interrupted();
  }
  const bool is_stopped = stop_.is_made();
  if (!is_stopped && slot_.host->is_reported == 0) return;
  const auto entered = gpu_.enter();
  slot_.host->is_reported = 0;
  slot_.host->stop = 0;
  const KernelInfo& kernel = executable_.info();
  const ReportedLaunch launch{kernel, threads_per_grid_, threads_per_threadgroup_};
  if (executable_.logs()) deliver_messages(slot_.report, launch);
  if (auto error = take_report(slot_.report, launch)) std::rethrow_exception(error);
  if (is_stopped) throw_stopped(kernel, is_interrupted, timeout_);
}

// Where threadgroups of each size have code of their own, this code is not assembled before a dispatch wants it.
GpuExecutable::GpuExecutable(std::span<const char> bytes, const KernelInfo& info, Gpu& gpu,
                             std::unique_ptr<const AssemblyStore> store)
    : gpu_(gpu), info_(info), file_(read_code_file(bytes)), facts_(file_.facts), store_(std::move(store)) {
  if (is_for_sizes()) return;
  module();
  file_.code = {};
}

GpuExecutable::~GpuExecutable() { delete module_.load(); }

// Threads that ask at the same time each load it, and the first one's stays.
const GpuModule& GpuExecutable::module() const {
  if (const GpuModule* loaded = module_.load(std::memory_order_acquire)) return *loaded;
  auto fresh = load_module(file_, info_.name, gpu_, store_.get());
  const GpuModule* first = nullptr;
  if (!module_.compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel)) return *first;
  return *fresh.release();
}

bool GpuExecutable::takes(const DispatchPlan& plan) const {
  if (facts_.most_threads != 0) return true;  // the complete code
  if (!takes_shape(plan) || !takes_overlaps(plan)) return false;
  const std::uint32_t most = module().most_threads();
  if (facts_.joined_threads != 0) return is_for_joined_threads(plan, facts_.joined_threads, most);
  return plan.threads_per_threadgroup.volume() <= most;
}

bool GpuExecutable::takes_but_for_overlaps(const DispatchPlan& plan) const {
  return !takes_overlaps(plan) && takes_shape(plan);
}

bool GpuExecutable::gains_by_size(const DispatchPlan& plan) const {
  return is_for_sizes() && takes_shape(plan) && takes_overlaps(plan);
}

bool GpuExecutable::takes_shape(const DispatchPlan& plan) const {
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const BoundMemory& memory = plan.arguments[i].memory;
    if (memory.owner != BoundMemory::Owner::buffer) continue;
    if (reinterpret_cast<std::uintptr_t>(memory.address()) % alignment_of(info_.arguments[i]) != 0) return false;
  }
  constexpr std::uint32_t no_joined = 0, any = 0;
  if (facts_.wants_whole != 0 &&
      !(shape_of(plan, no_joined, any).is_plain && plan.threads_per_threadgroup.volume() % simdgroup_width == 0)) {
    return false;
  }
  if (facts_.threads[0] != 0 && facts_.threads != triple(plan.threads_per_threadgroup)) return false;
  return facts_.wants_threads == 0 || plan.threads_per_threadgroup.volume() == facts_.wants_threads;
}

bool GpuExecutable::takes_overlaps(const DispatchPlan& plan) const {
  return facts_.wants_apart == 0 || are_apart(plan);
}

bool GpuExecutable::are_apart(const DispatchPlan& plan) const {
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const BoundMemory& written = plan.arguments[i].memory;
    if (written.owner != BoundMemory::Owner::buffer || info_.arguments[i].access == Access::read) continue;
    for (std::size_t j = 0; j < plan.arguments.size(); ++j) {
      const BoundMemory& other = plan.arguments[j].memory;
      if (j == i || other.owner != BoundMemory::Owner::buffer) continue;
      if (written.base < other.base + other.size && other.base < written.base + written.size) return false;
    }
  }
  return true;
}

// What usual code does not take the complete code does.
std::uint32_t GpuExecutable::max_threads_per_threadgroup() const {
  if (facts_.most_threads != 0) return std::min(facts_.most_threads, module().most_threads());
  const std::uint32_t own = info_.max_total_threads_per_threadgroup;
  return own != 0 ? std::min(own, metalloid::max_threads_per_threadgroup) : metalloid::max_threads_per_threadgroup;
}

// Of all threads of the context: others may have set it anew.
void GpuExecutable::make_room_for_recursion() const {
  constexpr int stack = static_cast<int>(ContextLimit::stack_bytes);
  std::size_t bytes = 0;
  driver().check(driver().context_get_limit(&bytes, stack), "a question");
  const std::uint64_t wanted = module().stack_bytes();
  if (bytes >= wanted) return;
  const OutsideOfCapture outside;
  const int result = driver().context_set_limit(stack, wanted);
  if (result == success) return;
  throw Error(ErrorCode::limit_exceeded,
              fmt::format("functions that kernel '{}' calls call themselves, and the GPU has no room for stacks of {} "
                          "bytes a thread: {}",
                          info_.name, wanted, driver().describe(result)));
}

void GpuExecutable::launch(const DispatchPlan& plan, Handle stream, const ReportSlot& report) const {
  const GpuModule& code = module();
  if (facts_.recurses != 0) make_room_for_recursion();
  Copies copies(stream, info_);
  Parameters parameters(facts_, info_.arguments);
  LaunchHead& head = parameters.head();
  put(head.threads_per_grid, triple(plan.threads_per_grid));
  put(head.threadgroups_per_grid, triple(plan.threadgroups_per_grid));
  put(head.threads_per_threadgroup, triple(plan.threads_per_threadgroup));
  head.report = report.report;
  head.host = reinterpret_cast<std::uint64_t>(report.host);
  std::uint64_t threadgroup_bytes = facts_.threadgroup_bytes;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const BoundArgument& argument = plan.arguments[i];
    const BoundMemory& memory = argument.memory;
    ArgumentSlot& slot = parameters.slot(i);
    const std::uint64_t place = parameters.next_reference(info_.arguments[i]);
    if (info_.arguments[i].kind == ArgumentKind::threadgroup_memory) {
      slot.address = threadgroup_bytes;
      set_bytes(slot, argument.threadgroup_bytes);
      threadgroup_bytes += (argument.threadgroup_bytes + 15) / 16 * 16;
      continue;
    }
    if (memory.owner == BoundMemory::Owner::none) continue;
    slot.address = reinterpret_cast<std::uint64_t>(memory.address());
    slot.front = memory.offset;
    set_bytes(slot, memory.size - memory.offset);
    if (memory.owner == BoundMemory::Owner::dispatch) {
      const std::span<const std::byte> bytes(memory.base, memory.size);
      if (info_.arguments[i].is_reference) {
        slot.address =
            parameters.add_at(place, bytes.first(std::min(bytes.size(), room_for_reference(info_.arguments[i]))));
      } else {
        slot.address = may_lie_in_parameters(info_.arguments[i]) ? parameters.add(bytes.data(), bytes.size()) : 0;
      }
      if (slot.address == 0) slot.address = copies.add(bytes);
      slot.address += memory.offset;
    }
    if (!argument.descriptor.empty()) {
      slot.descriptor = static_cast<std::uint32_t>(
          parameters.add(argument.descriptor.data(), argument.descriptor.size() * sizeof(std::int64_t)));
      if (slot.descriptor == 0) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("kernel '{}' has more tensors than a GPU's launch has room for", info_.name));
      }
    }
  }
  const LaunchShape shape = shape_of(plan, facts_.joined_threads, code.most_threads());
  const Triple &block = shape.block, &blocks = shape.blocks, &most = most_blocks;
  head.is_folded = shape.is_folded ? 1 : 0;
  head.is_plain = shape.is_plain ? 1 : 0;
  std::size_t size = parameters.size();
  std::array<void*, 5> extra = {reinterpret_cast<void*>(parameters_follow), parameters.data(),
                                reinterpret_cast<void*>(size_follows), &size, nullptr};
  for (std::uint64_t z = 0; z < blocks[2]; z += most[2]) {
    for (std::uint64_t y = 0; y < blocks[1]; y += most[1]) {
      for (std::uint64_t x = 0; x < blocks[0]; x += most[0]) {
        const std::array<std::uint64_t, 3> first = {x, y, z};
        Triple count{};
        for (std::size_t d = 0; d < 3; ++d) {
          head.first_group[d] = static_cast<std::uint32_t>(first[d]);
          count[d] = static_cast<std::uint32_t>(std::min<std::uint64_t>(most[d], blocks[d] - first[d]));
        }
        const int result = driver().launch(code.function(), count[0], count[1], count[2], block[0], block[1], block[2],
                                           static_cast<unsigned>(threadgroup_bytes), stream, nullptr, extra.data());
        if (result != success) driver().check(result, fmt::format("the launch of kernel '{}'", info_.name));
      }
    }
  }
}

void GpuExecutable::run(const DispatchPlan& plan) const {
  auto queue = gpu_.take_queue();
  const auto give_back = [&] { gpu_.give_back(std::move(queue)); };
  try {
    const auto entered = gpu_.enter();
    Launch launch(*this, plan, gpu_, *queue);
    queue->mark_ends();
    launch.wait();
  } catch (...) {
    give_back();
    throw;
  }
  give_back();
}

std::optional<std::chrono::duration<double>> GpuExecutable::time(const DispatchPlan& plan, std::uint32_t calls) const {
  const auto entered = gpu_.enter();
  const std::unique_ptr<Queue, std::function<void(Queue*)>> queue(
      gpu_.take_queue().release(), [this](Queue* taken) { gpu_.give_back(std::unique_ptr<Queue>(taken)); });
  const TimingEvent begin, end;
  begin.record(queue->handle());
  Launch launch(*this, plan, gpu_, *queue, calls);
  end.record(queue->handle());
  queue->mark_ends();
  launch.wait();
  wait_until([&] { return is_success(driver().event_query(end.handle())); });
  float milliseconds = 0;
  driver().check(driver().event_elapsed(&milliseconds, begin.handle(), end.handle()), "a time");
  return std::chrono::duration<double, std::milli>(milliseconds);
}

std::vector<std::pair<std::string, std::string>> GpuExecutable::resources(std::uint32_t threads) const {
  const auto entered = gpu_.enter();
  const Handle function = module().function();
  const auto value = [&](FunctionAttribute which) {
    int number = 0;
    driver().check(driver().function_attribute(&number, static_cast<int>(which), function), "a question");
    return number;
  };
  // Of joined threads a block has as many as run well, whatever threadgroups have (launch_shape.h).
  if (facts_.joined_threads != 0) threads = std::bit_floor(std::min(good_block_threads, module().most_threads()));
  int blocks = 0;
  driver().check(
      driver().blocks_of_multiprocessor(&blocks, function, static_cast<int>(threads), facts_.threadgroup_bytes),
      "a question");
  const int most = gpu_.threads_of_multiprocessor();
  std::vector<std::pair<std::string, std::string>> found = {
      {"registers", fmt::format("{} a thread", value(FunctionAttribute::registers))},
      {"spilled", fmt::format("{} bytes a thread", value(FunctionAttribute::local_bytes))},
      {"shared memory", fmt::format("{} bytes, without threadgroup arguments", value(FunctionAttribute::shared_bytes))},
      {"occupancy", fmt::format("{} blocks of {} threads on a multiprocessor, {:.0f} % of its {} threads", blocks,
                                threads, 100.0 * blocks * threads / most, most)}};
  if (facts_.joined_threads != 0) {
    found.emplace_back("threads", fmt::format("{} of Metal's in one of CUDA's", facts_.joined_threads));
  }
  return found;
}

std::unique_ptr<Executable> load_executable(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware,
                                            std::unique_ptr<const AssemblyStore> store) {
  return std::make_unique<GpuExecutable>(bytes, info, static_cast<Gpu&>(hardware), std::move(store));
}

}  // namespace metalloid::engines::cuda
