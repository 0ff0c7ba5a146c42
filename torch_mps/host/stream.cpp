// MPSStream: an encoder and a place for errors before a stream of the device (device/streams.h).
#include <ATen/mps/MPSStream.h>
#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <mutex>

#include <metalloid/metal/objects.h>
#include "../device/errors.h"
#include "../device/streams.h"
#include "metalloid/reported_errors.h"

namespace at::mps {
namespace {

using metalloid::metal::BufferObject;
using metalloid::metal::EncoderObject;
using metalloid::metal::make_object;

constexpr std::int64_t pool_size = metalloid::torch_device::pool_size;

// Streams live as long as the process.
struct Streams {
  std::mutex mutex;
  std::array<std::atomic<MPSStream*>, pool_size + 1> by_id = {};

  MPSStream* get(int64_t id) {
    TORCH_CHECK_VALUE(id >= 0 && id <= pool_size, "there is no MPS stream ", id, "; they are 0 to ", pool_size);
    std::atomic<MPSStream*>& place = by_id[static_cast<std::size_t>(id)];
    if (MPSStream* stream = place.load(std::memory_order_acquire)) return stream;
    const std::lock_guard lock(mutex);
    if (!place.load()) {
      place = new MPSStream(metalloid::torch_device::stream_of(id));
    }
    return place;
  }
};

Streams& streams() {
  static Streams& instance = *new Streams;
  return instance;
}

BufferObject* error_buffer() {
  static BufferObject* const buffer = make_object<BufferObject>(metalloid::error_buffer(), "errors of kernels");
  return buffer;
}

}  // namespace

MPSStream::MPSStream(Stream stream) : _stream(stream) {
  TORCH_CHECK(stream.device_type() == DeviceType::MPS, "Expected an MPS stream, got ", stream);
  _commandQueue = make_object<metalloid::metal::QueueObject>();
  _commandBuffer = make_object<metalloid::metal::CommandBufferObject>();
  _commandEncoder = make_object<EncoderObject>();
  _errorBuffer = error_buffer();
  _serialQueue = dispatch_queue_create("metal gpu stream", nullptr);
}

MPSStream::~MPSStream() {
  for (void* object :
       {static_cast<void*>(_commandQueue), static_cast<void*>(_commandBuffer), static_cast<void*>(_commandEncoder)}) {
    metalloid::metal::release(static_cast<metalloid::metal::Object*>(object));
  }
  dispatch_release(_serialQueue);
}

MPSCommandBuffer_t MPSStream::commandBuffer() { return _commandBuffer; }

MTLComputeCommandEncoder_t MPSStream::commandEncoder() {
  // Nothing that an earlier operator bound may reach a kernel.
  metalloid::metal::object_of<EncoderObject>(_commandEncoder)->forget();
  return _commandEncoder;
}

void MPSStream::endKernelCoalescing() {}

void MPSStream::synchronize(SyncType type) {
  switch (type) {
    case SyncType::COMMIT_AND_WAIT: commitAndWait(); break;
    case SyncType::COMMIT:
    case SyncType::COMMIT_ADAPTIVE:
    case SyncType::COMMIT_AND_CONTINUE: commit(); break;
    case SyncType::NONE: break;
  }
}

// What was encoded has been given to the stream already.
void MPSStream::commit() { flush(); }
void MPSStream::commitAndContinue() { flush(); }
void MPSStream::flush() {}
void MPSStream::addErrorHandler() {}

void MPSStream::commitAndWait() {
  flush();
  checkLastError();
}

void MPSStream::recordCommandBufferError(CommandBufferError error) {
  const std::lock_guard lock(_commandBufferErrorMutex);
  if (!_commandBufferError) _commandBufferError = std::move(error);
}

void MPSStream::checkLastError() {
  std::optional<CommandBufferError> failed;
  {
    const std::lock_guard lock(_commandBufferErrorMutex);
    failed.swap(_commandBufferError);
  }
  if (failed) {
    const c10::SourceLocation location = {__func__, __FILE__, __LINE__};
    if (failed->is_oom) throw c10::OutOfMemoryError(location, failed->message);
    throw c10::AcceleratorError(location, failed->code, failed->message);
  }
  metalloid::torch_device::raising([&] { metalloid::torch_device::work_of(_stream.id()).synchronize(); });
  metalloid::torch_device::raise_reported_error();
}

void MPSStream::copy(MTLBuffer_t source, MTLBuffer_t destination, size_t length, size_t source_offset,
                     size_t destination_offset, uint64_t, SyncType sync) {
  metalloid::metal::copy_memory(nullptr, source, source_offset, destination, destination_offset, length);
  synchronize(sync);
}

void MPSStream::copy_and_sync(MTLBuffer_t source, MTLBuffer_t destination, size_t length, size_t source_offset,
                              size_t destination_offset, bool non_blocking, uint64_t profile) {
  copy(source, destination, length, source_offset, destination_offset, profile,
       non_blocking ? SyncType::COMMIT : SyncType::COMMIT_AND_WAIT);
}

void MPSStream::executeMPSGraph(MPSGraph*, NSDictionary*, NSDictionary*, SyncType) {
  TORCH_CHECK_NOT_IMPLEMENTED(false,
                              "MPSGraph is not available here: Metalloid runs Metal kernels, not graphs of "
                              "Apple's MetalPerformanceShadersGraph");
}

MTLDevice_t MPSStream::device() const { return metalloid::metal::default_device(); }

MTLBuffer_t MPSStream::getErrorBuffer() { return _errorBuffer; }

MPSStream* getDefaultMPSStream() { return streams().get(0); }
MPSStream* getCurrentMPSStream() { return streams().get(metalloid::torch_device::current_stream()); }
void setCurrentMPSStream(MPSStream* stream) {
  metalloid::torch_device::set_current_stream(stream ? stream->unwrap().id() : 0);
}
MPSStream* getStreamByID(int64_t id) { return streams().get(id); }
MPSStream* getStreamFromPool() { return streams().get(metalloid::torch_device::next_stream_of_pool()); }

void synchronizeAllMPSStreams(SyncType type) {
  getDefaultMPSStream();
  for (const auto& stream : streams().by_id) {
    if (MPSStream* one = stream.load(std::memory_order_acquire)) one->synchronize(type);
  }
}

MPSStream* MPSStreamImpl::_stream = nullptr;
MPSStream* MPSStreamImpl::getInstance() { return _stream ? _stream : _stream = getDefaultMPSStream(); }
MPSStreamImpl::MPSStreamImpl() = default;

}  // namespace at::mps
