// dispatch_data_t: bytes, and what lets go of them.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "metal/dispatch/work.h"
#include "metal/objc/runtime.h"
#include "metalloid/metal/object.h"

struct dispatch_data_s : metalloid::metal::Object {
  static constexpr const char* class_name = "MetalloidDispatchData";
  const void* bytes = nullptr;
  size_t size = 0;
  std::unique_ptr<std::byte[]> own;
  dispatch_queue_t queue = nullptr;  // on which the destructor runs; null: any
  void* destructor = nullptr;        // a block

  dispatch_data_s() = default;
  ~dispatch_data_s() {
    if (!destructor) return;
    dispatch_async_f(queue ? queue : dispatch_get_global_queue(0, 0), destructor,
                     metalloid::dispatch::run_copied_block);
    if (queue) dispatch_release(queue);
  }
  dispatch_data_s(const dispatch_data_s&) = delete;
  dispatch_data_s& operator=(const dispatch_data_s&) = delete;
};

namespace {

bool is_empty(dispatch_data_t data) { return !data || static_cast<void*>(data) == _dispatch_data_empty; }

// A literal whose address says what is to be done.
metalloid::objective_c::Block free_block = {_NSConcreteGlobalBlock, 1 << 28, 0, nullptr, nullptr};

}  // namespace

extern "C" {

void* _dispatch_data_empty[4] = {};
extern __attribute__((visibility("default"))) void* const _dispatch_data_destructor_free;
void* const _dispatch_data_destructor_free = &free_block;

dispatch_data_t dispatch_data_create(const void* bytes, size_t size, dispatch_queue_t queue, void* destructor) {
  auto* data = metalloid::metal::make_object<dispatch_data_s>();
  data->size = size;
  if (destructor == &free_block) {
    data->own.reset(new std::byte[size]);
    std::memcpy(data->own.get(), bytes, size);
    data->bytes = data->own.get();
    std::free(const_cast<void*>(bytes));
  } else if (destructor) {
    data->bytes = bytes;
    data->destructor = metalloid::dispatch::copied(destructor);
    if (queue) dispatch_retain(queue);
    data->queue = queue;
  } else {
    data->own.reset(new std::byte[size]);
    std::memcpy(data->own.get(), bytes, size);
    data->bytes = data->own.get();
  }
  return data;
}

size_t dispatch_data_get_size(dispatch_data_t data) { return is_empty(data) ? 0 : data->size; }

dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** bytes, size_t* size) {
  if (bytes) *bytes = is_empty(data) ? nullptr : data->bytes;
  if (size) *size = dispatch_data_get_size(data);
  dispatch_retain(data);
  return data;
}

bool dispatch_data_apply(dispatch_data_t data, void* block) {
  if (is_empty(data)) return true;
  using Invoke = bool (*)(void*, dispatch_data_t, size_t, const void*, size_t);
  const auto* applier = static_cast<metalloid::objective_c::Block*>(block);
  return reinterpret_cast<Invoke>(applier->invoke)(block, data, 0, data->bytes, data->size);
}

}  // extern "C"
