// Work for queues, and the threads that carry it out.
#pragma once

#include <dispatch/dispatch.h>

#include <chrono>
#include <optional>

namespace metalloid::dispatch {

struct Work {
  void* context = nullptr;
  dispatch_function_t function = nullptr;
  dispatch_group_t group = nullptr;  // that it leaves when it is done
};

// pool.cpp: calls the function on a thread of its own, with a pool for what is autoreleased. Threads that wait do not
// keep others from being served: there are up to 512.
void on_some_thread(void* context, dispatch_function_t function);
void on_some_thread_at(std::chrono::steady_clock::time_point when, void* context, dispatch_function_t function);

// queue.cpp
void submit(dispatch_queue_t queue, const Work& work, bool barrier = false);

// time.cpp: none for DISPATCH_TIME_FOREVER.
std::optional<std::chrono::steady_clock::time_point> time_point_of(dispatch_time_t time);

// blocks.cpp: as functions with contexts. A copy lives until it has run.
void* copied(const void* block);
void run_block(void* block);         // calls it
void run_copied_block(void* block);  // calls it and lets go of it

}  // namespace metalloid::dispatch
