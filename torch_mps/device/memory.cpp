#include "memory.h"

#include <ATen/mps/MPSAllocatorInterface.h>
#include <ATen/mps/MPSDevice.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "blocks.h"
#include "streams.h"

namespace metalloid::torch_device {

namespace {

const c10::Device device{c10::DeviceType::MPS, 0};

class Registry {
 public:
  struct Entry {
    std::size_t size;
    std::uint32_t id;
    std::vector<std::int64_t> shape;  // whatever a host file wants to find again
  };

  void add(void* base, std::size_t size) {
    std::lock_guard lock(mutex_);
    const Entry entry = {size, ++last_id_, {}};
    const auto known = ranges_.find(base);
    if (known != ranges_.end()) {
      known->second = entry;
    } else if (spare_.empty()) {
      ranges_.emplace(base, entry);
    } else {
      spare_.key() = base;
      spare_.mapped() = entry;
      ranges_.insert(std::move(spare_));
    }
    const std::size_t now = now_.load(std::memory_order_relaxed) + size;
    now_.store(now, std::memory_order_relaxed);
    peak_ = std::max(peak_, now);
    ++allocations_;
  }

  // The size, in bytes.
  std::size_t remove(void* base) {
    std::lock_guard lock(mutex_);
    auto range = ranges_.find(base);
    if (range == ranges_.end()) return 0;
    const std::size_t size = range->second.size;
    now_.store(now_.load(std::memory_order_relaxed) - size, std::memory_order_relaxed);
    ++frees_;
    spare_ = ranges_.extract(range);
    return size;
  }

  std::optional<Allocation> find(const void* base) const {
    std::lock_guard lock(mutex_);
    auto range = ranges_.find(const_cast<void*>(base));
    if (range == ranges_.end()) return {};
    return Allocation{static_cast<std::byte*>(range->first), range->second.size};
  }

  // Calls `use` with an allocation's entry, if there is one at the address.
  template <typename Use>
  void with(const void* base, const Use& use) {
    std::lock_guard lock(mutex_);
    auto range = ranges_.find(const_cast<void*>(base));
    if (range != ranges_.end()) use(range->second);
  }

  std::size_t bytes() const { return now_.load(std::memory_order_relaxed); }

  MemoryUse use() const {
    std::lock_guard lock(mutex_);
    return {bytes(), peak_, allocations_, frees_};
  }

  void forget_peak() {
    std::lock_guard lock(mutex_);
    peak_ = bytes();
  }

 private:
  using Ranges = std::unordered_map<void*, Entry>;
  mutable std::mutex mutex_;
  Ranges ranges_;
  Ranges::node_type spare_;  // of what was removed last, for what is added next
  std::uint32_t last_id_ = 0;
  std::atomic<std::size_t> now_ = 0;  // bytes; changed under the mutex
  std::size_t peak_ = 0, allocations_ = 0, frees_ = 0;
};

// Never destroyed: tensors in statics of other libraries may outlive this one's.
Registry& on_device = *new Registry;
Registry& pinned = *new Registry;

// Kernels may still use what nobody holds any more.
void free_on_device(void* base) {
  after_work([base, size = on_device.remove(base)] { let_go_of_block(base, size); });
}

void free_pinned(void* base) {
  after_work([base, size = pinned.remove(base)] { let_go_of_block(base, size); });
}

std::string with_unit(std::size_t bytes) {
  constexpr std::array units = {"bytes", "KiB", "MiB", "GiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value > 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  if (unit == 0) return std::to_string(bytes) + " bytes";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f %s", value, units[unit]);
  return text.data();
}

std::size_t recommended_memory() { return physical_memory() / 4 * 3; }
std::size_t allocated_memory() { return on_device.bytes() + pinned.bytes(); }

// How much may be allocated, as a multiple of the recommended memory: the high watermark stops allocations, the low one
// is what host files ask for. 0: any amount. The numbers are those of at::mps::HeapAllocator.
struct Watermark {
  static constexpr double most = 2.0;

  const char* name;
  const char* variable;
  double usual;
  std::atomic<double> ratio = usual;

  void set(double value, double limit) {
    TORCH_CHECK(value >= 0.0 && value <= limit, "invalid ", name, " watermark ratio ", value);
    ratio = value;
  }
  void set_as_environment_says(double limit) {
    const char* text = std::getenv(variable);
    set(text ? std::strtod(text, nullptr) : usual, limit);
  }
  std::size_t bytes() const {
    if (ratio == 0.0) return std::numeric_limits<std::size_t>::max();
    return static_cast<std::size_t>(ratio * static_cast<double>(recommended_memory()));
  }
};
Watermark high{"high", "PYTORCH_MPS_HIGH_WATERMARK_RATIO", 1.7};
Watermark low{"low", "PYTORCH_MPS_LOW_WATERMARK_RATIO", 1.4};

double highest_low_ratio() { return high.ratio == 0.0 ? Watermark::most : high.ratio.load(); }

void read_environment() {
  static const bool is_read = [] {
    high.set_as_environment_says(Watermark::most);
    low.set_as_environment_says(highest_low_ratio());
    return true;
  }();
  (void)is_read;
}

void* try_to_allocate(std::size_t size) {
  const std::size_t now = allocated_memory(), limit = high.bytes();
  return now > limit || size > limit - now ? nullptr : take_block(size);
}

void ask_callbacks_for_memory() {
  using at::mps::IMpsAllocatorCallback;
  for (const auto& name : at::mps::MPSAllocatorCallbacksRegistry()->Keys()) {
    at::mps::MPSAllocatorCallbacksRegistry()->Create(name)->executeMPSAllocatorCallback(
        nullptr, IMpsAllocatorCallback::EventType::ALLOCATION_FAILED);
  }
}

void* allocate_or_say(std::size_t size) {
  read_environment();
  if (void* base = try_to_allocate(size)) return base;
  wait_for_work();  // which may hold memory that was freed
  ask_callbacks_for_memory();
  if (void* base = try_to_allocate(size)) return base;
  const std::string limit = high.ratio == 0.0 ? "" : ", max allowed: " + with_unit(high.bytes());
  const char* advice = high.ratio == 0.0 ? ""
                                         : " Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for "
                                           "memory allocations (may cause system failure).";
  TORCH_CHECK_WITH(OutOfMemoryError, false, "MPS backend out of memory (MPS allocated: ", with_unit(allocated_memory()),
                   ", other allocations: ", with_unit(0), limit, "). Tried to allocate ", with_unit(size),
                   " on shared pool.", advice);
}

// The interface that PyTorch's host files use. All memory is the host's.
struct DeviceAllocator final : at::mps::IMPSAllocator {
  c10::DataPtr allocate(std::size_t size) override {
    if (size == 0) return {nullptr, device};
    void* base = allocate_or_say(size);
    on_device.add(base, size);
    return {base, base, &free_on_device, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_on_device; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    wait_for_work();
    std::memcpy(to, from, count);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t = {0, 0}) override { release_kept_blocks(); }
  // What is freed waits for all streams, not only for those that are named here.
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    using c10::CachingAllocator::StatType;
    const auto use = on_device.use();
    c10::CachingDeviceAllocator::DeviceStats stats;
    for (auto* bytes : {&stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes, &stats.requested_bytes}) {
      auto& all = (*bytes)[static_cast<std::size_t>(StatType::AGGREGATE)];
      all.current = static_cast<std::int64_t>(use.now);
      all.peak = static_cast<std::int64_t>(use.peak);
    }
    auto& count = stats.allocation[static_cast<std::size_t>(StatType::AGGREGATE)];
    count.current = static_cast<std::int64_t>(use.allocations - use.frees);
    count.allocated = static_cast<std::int64_t>(use.allocations);
    count.freed = static_cast<std::int64_t>(use.frees);
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { on_device.forget_peak(); }

  // Sizes without padding; -1 for other memory.
  ssize_t getUnalignedBufferSize(const void* base) const override {
    const auto range = on_device.find(base);
    return range ? static_cast<ssize_t>(range->size) : -1;
  }
  c10::IntArrayRef getBufferShape(const void* base) const override {
    c10::IntArrayRef shape;
    on_device.with(base, [&](const Registry::Entry& entry) { shape = entry.shape; });
    return shape;
  }
  void setBufferShape(const void* base, const c10::IntArrayRef& shape) const override {
    on_device.with(base, [&](Registry::Entry& entry) { entry.shape = shape.vec(); });
  }
  id_t getBufferId(const void* base) const override {
    id_t id = 0;
    on_device.with(base, [&](const Registry::Entry& entry) { id = entry.id; });
    return id;
  }
  bool isSharedBuffer(const void* base) const override { return on_device.find(base).has_value(); }
  std::pair<const void*, std::uint32_t> getSharedBufferPtr(const void* base) const override {
    const auto range = on_device.find(base);
    return range ? std::pair<const void*, std::uint32_t>(range->base, 1) : std::pair<const void*, std::uint32_t>();
  }
  c10::DataPtr allocScalarBufferWithValue(void* value, std::size_t size) const override {
    c10::DataPtr data = c10::GetAllocator(c10::DeviceType::MPS)->allocate(size);
    std::memcpy(data.get(), value, size);
    return data;
  }
  c10::Storage getHostAliasStorage(const c10::Storage& storage) const override {
    TORCH_CHECK(storage && storage.device_type() == c10::DeviceType::MPS && is_owned(storage),
                "only memory of the MPS allocator has an alias on the host");
    wait_for_work();
    void* base = storage.mutable_data();
    c10::DataPtr alias(
        base, new c10::Storage(storage), [](void* owner) { delete static_cast<c10::Storage*>(owner); },
        c10::Device(c10::DeviceType::CPU));
    return c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(alias));
  }
  bool recordEvents(c10::ArrayRef<const void*> buffers) const override { return are_known(buffers); }
  bool waitForEvents(c10::ArrayRef<const void*> buffers) const override {
    wait_for_work();
    return are_known(buffers);
  }

  void freeInactiveBuffers() const override { release_kept_blocks(); }
  void setLowWatermarkRatio(double ratio) const override { low.set(ratio, highest_low_ratio()); }
  void setHighWatermarkRatio(double ratio) const override {
    read_environment();  // not later
    high.set(ratio, Watermark::most);
  }
  ssize_t getLowWatermarkValue() const override {  // MiB
    const std::size_t limit = low.bytes(), now = allocated_memory();
    if (low.ratio == 0.0) return std::numeric_limits<ssize_t>::max();
    return now < limit ? static_cast<ssize_t>((limit - now) >> 20) : 0;
  }
  std::size_t getLowWatermarkLimit() const override { return low.bytes(); }
  std::size_t getHighWatermarkLimit() const override { return high.bytes(); }
  std::size_t getTotalAllocatedMemory() const override { return on_device.bytes(); }
  std::size_t getCurrentAllocatedMemory() const override { return on_device.bytes(); }
  std::size_t getDriverAllocatedMemory() const override { return on_device.bytes() + kept_blocks(); }
  std::size_t getRecommendedMaxMemory() const override { return recommended_memory(); }
  std::string formatSize(std::size_t size) const override { return with_unit(size); }

 private:
  static bool is_owned(const c10::Storage& storage) {
    return storage.nbytes() == 0 || on_device.find(storage.data()).has_value();
  }
  static bool are_known(c10::ArrayRef<const void*> buffers) {
    return std::any_of(buffers.begin(), buffers.end(), [](const void* one) { return on_device.find(one).has_value(); });
  }
};

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override {
    if (size == 0) return {nullptr, c10::Device(c10::DeviceType::CPU)};
    void* base = allocate_or_say(size);
    pinned.add(base, size);
    return {base, base, &free_pinned, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
};

DeviceAllocator& the_allocator = *new DeviceAllocator;
PinnedAllocator& the_pinned_allocator = *new PinnedAllocator;

struct Adopted {
  c10::intrusive_ptr<c10::StorageImpl> owner;
  void* base;
};

void give_up(void* context) {
  auto* adopted = static_cast<Adopted*>(context);
  on_device.remove(adopted->base);
  after_work([adopted] { delete adopted; });
}

struct AdoptedMemory {
  c10::DataPtr owner;
};

void give_up_memory(void* context) {
  auto* adopted = static_cast<AdoptedMemory*>(context);
  on_device.remove(adopted->owner.get());
  after_work([adopted] { delete adopted; });
}

}  // namespace

REGISTER_ALLOCATOR(c10::DeviceType::MPS, &the_allocator)

c10::Allocator& allocator() { return the_allocator; }
c10::Allocator& pinned_allocator() { return the_pinned_allocator; }
bool is_pinned(const void* address) { return pinned.find(address).has_value(); }

c10::DataPtr adopt(c10::DataPtr owner, std::size_t size) {
  void* base = owner.get();
  if (base == nullptr) return {nullptr, device};
  on_device.add(base, size);
  return {base, new AdoptedMemory{std::move(owner)}, &give_up_memory, device};
}

c10::intrusive_ptr<c10::StorageImpl> adopt(c10::intrusive_ptr<c10::StorageImpl> owner) {
  const std::size_t size = owner->nbytes();
  void* base = owner->mutable_data();
  c10::DataPtr data(nullptr, device);
  if (base != nullptr) {
    on_device.add(base, size);
    data = {base, new Adopted{std::move(owner), base}, &give_up, device};
  }
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), size, std::move(data),
                                               &the_allocator, /*resizable=*/true);
}

std::optional<Allocation> allocation_at(const void* base) { return on_device.find(base); }
MemoryUse memory_use() { return on_device.use(); }

std::size_t physical_memory() {
  static const std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace metalloid::torch_device

namespace at::mps {

C10_DEFINE_REGISTRY(MPSAllocatorCallbacksRegistry, IMpsAllocatorCallback)

IMPSAllocator* getIMPSAllocator() { return &metalloid::torch_device::the_allocator; }
at::Allocator* GetMPSAllocator() { return getIMPSAllocator(); }
c10::Allocator* getMPSPinnedAllocator() { return &metalloid::torch_device::pinned_allocator(); }
bool isMPSPinnedPtr(const void* data) { return metalloid::torch_device::is_pinned(data); }
// Host files have the memory of tensors alone as buffers.
void* getMPSPinnedMTLBuffer(const void*) { return nullptr; }

}  // namespace at::mps
