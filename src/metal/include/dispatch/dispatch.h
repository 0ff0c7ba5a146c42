// <dispatch/dispatch.h>: queues whose work runs on threads of a pool, groups, semaphores, times, data.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __OBJC__
#import <objc/NSObject.h>
#endif

#ifdef __cplusplus
#include <condition_variable>  // torch's headers beside this one want it; on a Mac <mutex> brings it
#define DISPATCH_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define DISPATCH_EXPORT extern __attribute__((visibility("default")))
#endif

// Objects of Objective-C where that is spoken, so that automatic reference counting counts them.
#ifdef __OBJC__
@protocol OS_dispatch_object <NSObject>
@end
typedef NSObject<OS_dispatch_object>* dispatch_object_t;
#define DISPATCH_DECL(name)                        \
  @protocol OS_##name <OS_dispatch_object>         \
  @end                                             \
  typedef NSObject<OS_##name>* name##_t
#else
#define DISPATCH_DECL(name) typedef struct name##_s* name##_t
typedef void* dispatch_object_t;
#endif

DISPATCH_DECL(dispatch_queue);
DISPATCH_DECL(dispatch_queue_attr);
DISPATCH_DECL(dispatch_group);
DISPATCH_DECL(dispatch_semaphore);
DISPATCH_DECL(dispatch_data);
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_serial_t;
typedef dispatch_queue_t dispatch_queue_main_t;

typedef void (*dispatch_function_t)(void*);
typedef long dispatch_once_t;
typedef uint64_t dispatch_time_t;
typedef unsigned int dispatch_qos_class_t;
#ifdef __BLOCKS__
typedef void (^dispatch_block_t)(void);
#endif

// sys/qos.h
typedef unsigned int qos_class_t;
enum {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00
};

#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND INT16_MIN

#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)
#define DISPATCH_WALLTIME_NOW (~1ull)

DISPATCH_EXPORT void* _dispatch_queue_attr_concurrent[];
DISPATCH_EXPORT void* _dispatch_data_empty[];
DISPATCH_EXPORT void* _dispatch_main_q[];
#ifdef __OBJC__
#define DISPATCH_OBJECT_AT(type, symbol) ((__bridge type)(void*)(symbol))
#else
#define DISPATCH_OBJECT_AT(type, symbol) ((type)(void*)(symbol))
#endif
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_QUEUE_CONCURRENT DISPATCH_OBJECT_AT(dispatch_queue_attr_t, _dispatch_queue_attr_concurrent)
#define DISPATCH_QUEUE_SERIAL_WITH_AUTORELEASE_POOL DISPATCH_QUEUE_SERIAL
#define DISPATCH_CURRENT_QUEUE_LABEL ((dispatch_queue_t)0)
#define DISPATCH_TARGET_QUEUE_DEFAULT ((dispatch_queue_t)0)

#if !defined(__OBJC__) || !__has_feature(objc_arc)
DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);
#endif

// Attributes tell serial queues from concurrent ones; classes of quality and targets change nothing.
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attributes);
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create_with_target(const char* label, dispatch_queue_attr_t attributes,
                                                                   dispatch_queue_t target);
DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attributes,
                                                                              dispatch_qos_class_t quality,
                                                                              int relative_priority);
// One for all priorities.
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
// A serial queue on the pool's threads: nothing here is the main thread's own.
DISPATCH_EXPORT dispatch_queue_t dispatch_get_main_queue(void);
DISPATCH_EXPORT void dispatch_main(void) __attribute__((noreturn));
DISPATCH_EXPORT const char* dispatch_queue_get_label(dispatch_queue_t queue);
DISPATCH_EXPORT void dispatch_set_target_queue(dispatch_object_t object, dispatch_queue_t target);
DISPATCH_EXPORT void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value,
                                                 dispatch_function_t destructor);
DISPATCH_EXPORT void* dispatch_get_specific(const void* key);

// In the caller's thread when its turn comes; exceptions of the work pass through. Work that runs in a serial queue may
// dispatch to that queue.
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void* context,
                                      dispatch_function_t work);
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_apply_f(size_t count, dispatch_queue_t queue, void* context, void (*work)(void*, size_t));

DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void);
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context,
                                            dispatch_function_t work);
DISPATCH_EXPORT void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void* context,
                                             dispatch_function_t work);
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout);

DISPATCH_EXPORT dispatch_semaphore_t dispatch_semaphore_create(intptr_t value);
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout);
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds);
DISPATCH_EXPORT dispatch_time_t dispatch_walltime(const struct timespec* when, int64_t nanoseconds);

DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);
#define dispatch_data_empty DISPATCH_OBJECT_AT(dispatch_data_t, _dispatch_data_empty)

#ifdef __BLOCKS__
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_sync(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* predicate, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_apply(size_t count, dispatch_queue_t queue, void (^block)(size_t));
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);

// The bytes are copied where the destructor is DISPATCH_DATA_DESTRUCTOR_DEFAULT.
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)
DISPATCH_EXPORT const dispatch_block_t _dispatch_data_destructor_free;
#define DISPATCH_DATA_DESTRUCTOR_FREE (_dispatch_data_destructor_free)
DISPATCH_EXPORT dispatch_data_t dispatch_data_create(const void* bytes, size_t size, dispatch_queue_t queue,
                                                     dispatch_block_t destructor);
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** bytes, size_t* size);
DISPATCH_EXPORT bool dispatch_data_apply(dispatch_data_t data,
                                         bool (^applier)(dispatch_data_t region, size_t offset, const void* bytes,
                                                         size_t size));
#endif
