// Blocks as work.
#include "metal/dispatch/work.h"
#include "metal/objc/runtime.h"

using metalloid::dispatch::copied;
using metalloid::dispatch::run_block;
using metalloid::dispatch::run_copied_block;
using metalloid::objective_c::Block;

namespace metalloid::dispatch {

void* copied(const void* block) { return _Block_copy(block); }

void run_block(void* block) { reinterpret_cast<void (*)(void*)>(static_cast<Block*>(block)->invoke)(block); }

void run_copied_block(void* block) {
  run_block(block);
  _Block_release(block);
}

}  // namespace metalloid::dispatch

// dispatch.h declares these where the compiler knows blocks.
extern "C" {

void dispatch_sync(dispatch_queue_t queue, void* block) { dispatch_sync_f(queue, block, run_block); }
void dispatch_barrier_sync(dispatch_queue_t queue, void* block) { dispatch_barrier_sync_f(queue, block, run_block); }
void dispatch_async(dispatch_queue_t queue, void* block) { dispatch_async_f(queue, copied(block), run_copied_block); }
void dispatch_barrier_async(dispatch_queue_t queue, void* block) {
  dispatch_barrier_async_f(queue, copied(block), run_copied_block);
}
void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, void* block) {
  if (when != DISPATCH_TIME_FOREVER) dispatch_after_f(when, queue, copied(block), run_copied_block);
}
void dispatch_once(dispatch_once_t* predicate, void* block) { dispatch_once_f(predicate, block, run_block); }
void dispatch_apply(size_t count, dispatch_queue_t queue, void* block) {
  dispatch_apply_f(count, queue, block, [](void* context, size_t turn) {
    using Invoke = void (*)(void*, size_t);
    reinterpret_cast<Invoke>(static_cast<Block*>(context)->invoke)(context, turn);
  });
}
void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, void* block) {
  dispatch_group_async_f(group, queue, copied(block), run_copied_block);
}
void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, void* block) {
  dispatch_group_notify_f(group, queue, copied(block), run_copied_block);
}

}  // extern "C"
