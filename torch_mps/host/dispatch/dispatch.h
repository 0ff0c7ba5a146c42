// <dispatch/dispatch.h>: the queues that PyTorch's streams and host files use. A queue runs one piece of work at a
// time, in the caller's thread; what is dispatched asynchronously has run when the call returns.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <condition_variable>  // torch's headers beside this one want it; on a Mac <mutex> brings it
extern "C" {
#endif

#define DISPATCH_EXPORT __attribute__((visibility("default")))

typedef struct dispatch_queue_s* dispatch_queue_t;
typedef struct dispatch_queue_attr_s* dispatch_queue_attr_t;
typedef void (*dispatch_function_t)(void*);
typedef long dispatch_once_t;

#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN

DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attributes);
// One for all priorities.
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(long priority, unsigned long flags);
DISPATCH_EXPORT void dispatch_retain(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_release(dispatch_queue_t queue);
DISPATCH_EXPORT const char* dispatch_queue_get_label(dispatch_queue_t queue);

// Exceptions of the work pass through.
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t work);
// One turn after the other.
DISPATCH_EXPORT void dispatch_apply_f(size_t count, dispatch_queue_t queue, void* context, void (*work)(void*, size_t));

#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_apply(size_t count, dispatch_queue_t queue, void (^block)(size_t));
#endif

#ifdef __cplusplus
}
#endif
