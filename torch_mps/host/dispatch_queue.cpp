#include "dispatch_queue.h"

#include <atomic>
#include <mutex>

namespace {

std::recursive_mutex& once_mutex = *new std::recursive_mutex;

}  // namespace

extern "C" {

dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t) {
  return new dispatch_queue_s{label ? label : "", {}, 1};
}

dispatch_queue_t dispatch_get_global_queue(long, unsigned long) {
  static dispatch_queue_t const queue = dispatch_queue_create("global", nullptr);
  return queue;
}

void dispatch_retain(dispatch_queue_t queue) { queue->references.fetch_add(1); }

void dispatch_release(dispatch_queue_t queue) {
  if (queue && queue->references.fetch_sub(1) == 1) delete queue;
}

const char* dispatch_queue_get_label(dispatch_queue_t queue) { return queue->label.c_str(); }

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  const std::lock_guard lock(queue->mutex);
  work(context);
}

void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  dispatch_sync_f(queue, context, work);
}

void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t work) {
  const std::atomic_ref done(*predicate);
  if (done.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(once_mutex);
  if (done.load(std::memory_order_relaxed)) return;
  work(context);
  done.store(1, std::memory_order_release);
}

void dispatch_apply_f(size_t count, dispatch_queue_t, void* context, void (*work)(void*, size_t)) {
  for (size_t i = 0; i < count; ++i) work(context, i);
}

}  // extern "C"
