#include "streams.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <metalloid/device.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "errors.h"
#include "event.h"

namespace metalloid::torch_device {

namespace {

thread_local std::int64_t current = 0;
std::atomic<std::int64_t> taken_from_pool{0};
std::atomic<bool> threads_have_begun{false};

const c10::Device only_device{c10::DeviceType::MPS, 0};

// They live as long as the process.
class Streams {
 public:
  Stream& get(std::int64_t id) {
    TORCH_CHECK_VALUE(id >= 0 && id <= pool_size, "there is no MPS stream ", id, "; they are 0 to ", pool_size);
    std::atomic<Stream*>& place = by_id_[static_cast<std::size_t>(id)];
    if (Stream* stream = place.load(std::memory_order_acquire)) return *stream;
    const std::lock_guard lock(mutex_);
    if (!place.load()) {
      place = id == 0 ? &Stream::of_process() : new Stream(Device::configured());
      last_ = std::max(last_.load(), id);
    }
    return *place;
  }

  template <typename Use>
  void each(const Use& use) const {
    use(Stream::of_process());  // whether anybody asked for it by number or not
    for (std::int64_t id = 1; id <= last_.load(std::memory_order_acquire); ++id) {
      if (Stream* stream = by_id_[static_cast<std::size_t>(id)].load(std::memory_order_acquire)) use(*stream);
    }
  }

 private:
  std::mutex mutex_;
  std::array<std::atomic<Stream*>, pool_size + 1> by_id_ = {};
  std::atomic<std::int64_t> last_ = 0;
};

Streams& streams = *new Streams;

struct Holder {
  std::vector<std::shared_ptr<void>> kept;
};

class Holders {
 public:
  bool are_some() const { return count_.load(std::memory_order_acquire) != 0; }

  std::shared_ptr<void> add() {
    auto* const holder = new Holder;
    const std::lock_guard lock(mutex_);
    all_.insert(holder);
    ++count_;
    return {holder, [this](Holder* gone) {
              {
                const std::lock_guard lock(mutex_);
                all_.erase(gone);
                --count_;
              }
              delete gone;  // calls what waited
            }};
  }

  template <typename Use>
  void each(const Use& use) {
    const std::lock_guard lock(mutex_);
    for (Holder* holder : all_) use(*holder);
  }

 private:
  std::mutex mutex_;
  std::set<Holder*> all_;
  std::atomic<std::size_t> count_ = 0;
};

Holders& holders = *new Holders;

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return c10::DeviceType::MPS; }
  c10::Device exchangeDevice(c10::Device) const override { return only_device; }
  c10::Device getDevice() const override { return only_device; }
  // Autograd's threads do this when they begin.
  void setDevice(c10::Device) const override { threads_have_begun = threads_have_begun || getpid() != gettid(); }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device) const override { return stream_of(current); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream_of(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return stream_of(next_stream_of_pool()); }
  c10::Stream getNewStream(c10::Device, int) const override { return stream_of(next_stream_of_pool()); }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const auto before = current;
    set_current_stream(stream.id());
    return stream_of(before);
  }
  bool queryStream(const c10::Stream& stream) const override { return work_of(stream.id()).is_idle(); }
  void synchronizeStream(const c10::Stream& stream) const override {
    raising([&] { work_of(stream.id()).synchronize(); });
    raise_reported_error();
  }
  void synchronizeDevice(c10::DeviceIndex) const override { synchronize(); }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
    if (*event == nullptr) *event = new Event;
    static_cast<Event*>(*event)->record(work_of(stream.id()));
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event) static_cast<Event*>(event)->block(work_of(stream.id()));
  }
  bool queryEvent(void* event) const override { return !event || static_cast<Event*>(event)->is_reached(); }
  void synchronizeEvent(void* event) const override {
    if (event) static_cast<Event*>(event)->wait();
    raise_reported_error();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  double elapsedTime(void* from, void* to, c10::DeviceIndex) const override {
    const auto *begin = static_cast<Event*>(from), *end = static_cast<Event*>(to);
    TORCH_CHECK(begin && end && begin->is_recorded() && end->is_recorded(),
                "Both events must be recorded before calculating elapsed time.");
    const double time = milliseconds_between(*begin, *end);
    raise_reported_error();
    return time;
  }
  // Memory that is freed waits for all streams (memory.cpp).
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}

  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits =
        (1ULL << c10::kIndex_Byte) | (1ULL << c10::kIndex_Char) | (1ULL << c10::kIndex_Short) |
        (1ULL << c10::kIndex_Int) | (1ULL << c10::kIndex_Long) | (1ULL << c10::kIndex_Half) |
        (1ULL << c10::kIndex_Float) | (1ULL << c10::kIndex_ComplexHalf) | (1ULL << c10::kIndex_ComplexFloat) |
        (1ULL << c10::kIndex_Bool) | (1ULL << c10::kIndex_BFloat16) | (1ULL << c10::kIndex_UInt16) |
        (1ULL << c10::kIndex_UInt32) | (1ULL << c10::kIndex_UInt64);
    return capability;
  }
};

C10_REGISTER_GUARD_IMPL(MPS, Guard)

}  // namespace

bool autograd_has_threads() { return threads_have_begun; }

std::int64_t current_stream() { return current; }
void set_current_stream(std::int64_t id) {
  Stream::make_current(work_of(id));
  current = id;
}
std::int64_t next_stream_of_pool() { return taken_from_pool++ % pool_size + 1; }

Stream& work_of(std::int64_t id) { return streams.get(id); }

void wait_for_work() {
  streams.each([](Stream& stream) { raising([&] { stream.synchronize(); }); });
}

void after_work(std::function<void()> function) noexcept {
  struct AtLast {
    std::function<void()> function;
    ~AtLast() { function(); }
  };
  std::shared_ptr<AtLast> at_last;
  const auto shared = [&] {
    if (!at_last) at_last = std::make_shared<AtLast>(std::move(function));
    return at_last;
  };
  streams.each([&](Stream& stream) {
    if (!stream.is_idle()) stream.call([until = shared()] {});
  });
  if (holders.are_some()) {
    holders.each([&](Holder& holder) { holder.kept.push_back(shared()); });
  }
  if (!at_last) function();
}

std::shared_ptr<void> hold_off() { return holders.add(); }

void synchronize() {
  wait_for_work();
  raise_reported_error();
}

}  // namespace metalloid::torch_device
