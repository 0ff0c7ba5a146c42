// Asks the allocator, events and copies of at::mps, so that tests reach them from Python.
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSAllocatorInterface.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/mps/MPSEvent.h>
#include <ATen/native/mps/Copy.h>
#include <ATen/ops/from_blob.h>
#include <torch/library.h>

#include <string>
#include <tuple>

namespace {

using namespace at::mps;  // which REGISTER_MPS_ALLOCATOR_CALLBACK counts on
using at::Tensor;

// Bytes, whether it is shared, whether its memory is the tensor's.
std::tuple<int64_t, bool, bool> known(const Tensor& tensor) {
  const auto* allocator = at::mps::getIMPSAllocator();
  const void* memory = tensor.storage().data();
  return {allocator->getUnalignedBufferSize(memory), allocator->isSharedBuffer(memory),
          memory != nullptr && allocator->getSharedBufferPtr(memory).first == memory};
}

bool have_one_id(const Tensor& one, const Tensor& other) {
  const auto* allocator = at::mps::getIMPSAllocator();
  return allocator->getBufferId(one.storage().data()) == allocator->getBufferId(other.storage().data());
}

std::vector<int64_t> shape_that_was_set(const Tensor& tensor) {
  const auto* allocator = at::mps::getIMPSAllocator();
  allocator->setBufferShape(tensor.storage().data(), tensor.sizes());
  return allocator->getBufferShape(tensor.storage().data()).vec();
}

// The memory of a tensor as one of the host's, which keeps it.
Tensor on_host(const Tensor& tensor) {
  auto storage = at::mps::getIMPSAllocator()->getHostAliasStorage(tensor.storage());
  void* memory = storage.mutable_data();
  return at::from_blob(
      memory, tensor.sizes(), tensor.strides(), [storage](void*) {}, tensor.options().device(at::kCPU));
}

double scalar(double value) {
  auto number = static_cast<float>(value);
  const auto memory = at::mps::getIMPSAllocator()->allocScalarBufferWithValue(&number, sizeof(number));
  return *static_cast<const float*>(memory.get());
}

bool allocators_are_one() { return at::mps::GetMPSAllocator() == at::mps::getIMPSAllocator(); }

// Whether it was recorded before and after, milliseconds between, and whether an event that came back is used again.
std::tuple<bool, bool, double, bool> events() {
  const auto pool = at::mps::getMPSEventPool();
  auto event = pool->acquireEvent(true, at::mps::getCurrentMPSStream());
  const bool before = event->get()->query();
  event->record(true);
  const bool after = event->synchronize();
  const auto id = event->getID();
  event.reset();
  const bool again = pool->acquireEvent(false, nullptr)->getID() == id;
  const auto from = pool->acquireEvent(true), to = pool->acquireEvent(true);
  pool->recordEvent(from, true);
  pool->recordEvent(to, true);
  const double elapsed = pool->elapsedTime(from, to);
  pool->releaseEvent(from);
  pool->releaseEvent(to);
  return {before, after, elapsed, again};
}

double time_between_events_without_time() {
  const auto pool = at::mps::getMPSEventPool();
  const auto id = pool->acquireEvent(false);
  pool->recordEvent(id, true);
  return pool->elapsedTime(id, id);
}

void release_event(int64_t id) { at::mps::getMPSEventPool()->releaseEvent(static_cast<id_t>(id)); }

// Frees what it was given when the allocator has no more memory.
Tensor spare;
int64_t failures = 0;
struct Giver final : IMpsAllocatorCallback {
  void executeMPSAllocatorCallback(void* memory, EventType event) override {
    if (event != EventType::ALLOCATION_FAILED || memory != nullptr) return;
    ++failures;
    spare = Tensor();
  }
};
REGISTER_MPS_ALLOCATOR_CALLBACK("metalloid_test_giver", Giver);

void keep_until_memory_is_short(const Tensor& tensor) { spare = tensor; }
int64_t failed_allocations() { return failures; }

// Low and high watermark, bytes to the low one in MiB.
std::tuple<int64_t, int64_t, int64_t> watermarks() {
  const auto* allocator = at::mps::getIMPSAllocator();
  return {static_cast<int64_t>(allocator->getLowWatermarkLimit()),
          static_cast<int64_t>(allocator->getHighWatermarkLimit()), allocator->getLowWatermarkValue()};
}

void copy(Tensor out, const Tensor& input) { at::native::mps::mps_copy_(out, input, false); }

void scatter(const Tensor& out, const Tensor& input, int64_t slice, int64_t stride, int64_t offset) {
  at::native::mps::inner_contiguous_scatter_mps(input, out, slice, stride, offset);
}

}  // namespace

TORCH_LIBRARY(metalloid_host_memory, m) {
  m.def("known(Tensor x) -> (int, bool, bool)", known);
  m.def("have_one_id(Tensor x, Tensor y) -> bool", have_one_id);
  m.def("shape_that_was_set(Tensor x) -> int[]", shape_that_was_set);
  m.def("on_host(Tensor x) -> Tensor", on_host);
  m.def("scalar(float value) -> float", scalar);
  m.def("allocators_are_one() -> bool", allocators_are_one);
  m.def("events() -> (bool, bool, float, bool)", events);
  m.def("time_between_events_without_time() -> float", time_between_events_without_time);
  m.def("release_event(int id) -> ()", release_event);
  m.def("keep_until_memory_is_short(Tensor x) -> ()", keep_until_memory_is_short);
  m.def("failed_allocations() -> int", failed_allocations);
  m.def("watermarks() -> (int, int, int)", watermarks);
  m.def("copy(Tensor(a!) out, Tensor x) -> ()", copy);
  m.def("scatter(Tensor(a!) out, Tensor x, int slice, int stride, int offset) -> ()", scatter);
}
