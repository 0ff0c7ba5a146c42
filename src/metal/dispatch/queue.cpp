// Queues: work in its order, one piece at a time, or as many as there are where a queue is concurrent.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "metal/dispatch/work.h"
#include "metal/objc/runtime.h"
#include "metalloid/metal/object.h"
#include "metalloid/metal/turn.h"

using metalloid::dispatch::Work;
using metalloid::metal::Turn;

namespace {

// Somebody who waits until it is the turn of his work, which he does himself.
struct Announcement {
  std::mutex mutex;
  std::condition_variable changed;
  bool come = false;

  void announce() {
    const std::lock_guard lock(mutex);
    come = true;
    changed.notify_one();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return come; });
  }
};

struct Entry {
  Work work;
  bool barrier;
  Announcement* turn;  // to who waits; null: a thread of the pool does it
};

}  // namespace

struct dispatch_queue_s : metalloid::metal::Object {
  static constexpr const char* class_name = "MetalloidDispatchQueue";

  dispatch_queue_s(const char* text, bool several) : label(text ? text : ""), concurrent(several) {}

  const std::string label;
  const bool concurrent;
  std::mutex mutex;
  std::deque<Entry> entries;
  unsigned running = 0;
  bool barrier_runs = false;
  std::map<const void*, std::pair<void*, dispatch_function_t>> specifics;

  ~dispatch_queue_s() {
    for (const auto& [_, value] : specifics) {
      if (value.second) value.second(value.first);
    }
  }
};

namespace {

// The queues whose work this thread does, the innermost first.
thread_local const Turn* current = nullptr;

dispatch_queue_s* innermost() { return static_cast<dispatch_queue_s*>(current->queue()); }

bool runs_here(const dispatch_queue_s* queue) {
  for (const Turn* one = current; one; one = one->outer()) {
    if (one->queue() == queue) return true;
  }
  return false;
}

void start_what_can(dispatch_queue_s* queue);

void done(dispatch_queue_s* queue) {
  {
    const std::lock_guard lock(queue->mutex);
    --queue->running;
    queue->barrier_runs = false;
  }
  start_what_can(queue);
  metalloid::metal::release(queue);  // start_what_can's
}

struct Job {
  dispatch_queue_s* queue;
  Work work;
};

void carry_out(void* context) {
  const Job job = *static_cast<Job*>(context);
  delete static_cast<Job*>(context);
  {
    const Turn turn(job.queue, Turn::Begun());
    job.work.function(job.work.context);
    if (job.work.group) dispatch_group_leave(job.work.group);
  }
}

// What runs keeps its queue.
void start_what_can(dispatch_queue_s* queue) {
  const std::lock_guard lock(queue->mutex);
  while (!queue->entries.empty()) {
    const Entry next = queue->entries.front();
    if (queue->barrier_runs || ((next.barrier || !queue->concurrent) && queue->running != 0)) return;
    queue->entries.pop_front();
    ++queue->running;
    queue->barrier_runs = next.barrier || !queue->concurrent;
    metalloid::metal::retain(queue);
    if (next.turn) {
      next.turn->announce();
    } else {
      metalloid::dispatch::on_some_thread(new Job{queue, next.work}, &carry_out);
    }
  }
}

void add(dispatch_queue_s* queue, const Entry& entry) {
  {
    const std::lock_guard lock(queue->mutex);
    queue->entries.push_back(entry);
  }
  start_what_can(queue);
}

// Nobody before it: without a thread to tell.
bool begins_at_once(dispatch_queue_s* queue, bool alone) {
  if (!queue->entries.empty() || queue->barrier_runs || (alone && queue->running != 0)) return false;
  ++queue->running;
  queue->barrier_runs = alone;
  metalloid::metal::retain(queue);
  return true;
}

void wait_for_turn(dispatch_queue_s* queue, bool barrier) {
  Announcement turn;
  {
    const std::lock_guard lock(queue->mutex);
    if (begins_at_once(queue, barrier || !queue->concurrent)) return;
    queue->entries.push_back({{}, barrier, &turn});
  }
  start_what_can(queue);
  turn.wait();
}

dispatch_queue_s* made(const char* label, bool concurrent) {
  return metalloid::metal::make_object<dispatch_queue_s>(label, concurrent);
}

dispatch_queue_s* main_queue() {
  static dispatch_queue_s* const queue = made("com.apple.main-thread", false);
  return queue;
}

dispatch_queue_s* known(dispatch_queue_t queue) {
  return static_cast<void*>(queue) == _dispatch_main_q ? main_queue() : queue;
}

void in_turn(dispatch_queue_s* queue, void* context, dispatch_function_t work, bool barrier) {
  const Turn turn(queue, barrier);
  work(context);
}

struct Once {
  std::mutex mutex;
  std::condition_variable changed;
};
Once& once() {
  static Once& instance = *new Once;
  return instance;
}
constexpr long once_runs = 1, once_done = -1;

// dispatch_apply's turns, which several threads take.
struct Turns {
  void (*work)(void*, size_t);
  void* context;
  size_t count;
  std::atomic<size_t> next = 0, finished = 0;
  std::atomic<unsigned> helpers = 0;
  Announcement all_done;

  void take() {
    size_t done_here = 0;
    for (size_t turn = next.fetch_add(1); turn < count; turn = next.fetch_add(1), ++done_here) work(context, turn);
    if (done_here != 0 && finished.fetch_add(done_here) + done_here == count) all_done.announce();
  }
};

}  // namespace

Turn::Turn(void* queue, bool barrier) : queue_(queue), outer_(current), is_nested_(false) {
  auto* one = static_cast<dispatch_queue_s*>(queue);
  is_nested_ = !one->concurrent && runs_here(one);
  if (!is_nested_) wait_for_turn(one, barrier);
  current = this;
}

Turn::Turn(void* queue, Begun) : queue_(queue), outer_(current), is_nested_(false) { current = this; }

Turn::~Turn() {
  current = outer_;
  if (!is_nested_) done(static_cast<dispatch_queue_s*>(queue_));
}

void metalloid::dispatch::submit(dispatch_queue_t queue, const Work& work, bool barrier) {
  add(known(queue), {work, barrier, nullptr});
}

extern "C" {

void* _dispatch_main_q[4] = {};
void* _dispatch_queue_attr_concurrent[4] = {};

void dispatch_retain(dispatch_object_t object) { objc_retain(object); }
void dispatch_release(dispatch_object_t object) { objc_release(object); }

dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attributes) {
  return made(label, attributes == DISPATCH_QUEUE_CONCURRENT);
}

dispatch_queue_t dispatch_queue_create_with_target(const char* label, dispatch_queue_attr_t attributes,
                                                   dispatch_queue_t) {
  return dispatch_queue_create(label, attributes);
}

dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attributes, dispatch_qos_class_t,
                                                              int) {
  return attributes;
}

dispatch_queue_t dispatch_get_global_queue(intptr_t, uintptr_t) {
  static dispatch_queue_s* const queue = made("com.apple.root.default-qos", true);
  return queue;
}

dispatch_queue_t dispatch_get_main_queue() { return main_queue(); }

void dispatch_main() {
  for (;;) pause();
}

const char* dispatch_queue_get_label(dispatch_queue_t queue) {
  if (!queue) return current ? innermost()->label.c_str() : main_queue()->label.c_str();
  return known(queue)->label.c_str();
}

void dispatch_set_target_queue(dispatch_object_t, dispatch_queue_t) {}

void dispatch_queue_set_specific(dispatch_queue_t queue, const void* key, void* value, dispatch_function_t destructor) {
  dispatch_queue_s* one = known(queue);
  const std::lock_guard lock(one->mutex);
  one->specifics.insert_or_assign(key, std::pair{value, destructor});
}

void* dispatch_get_specific(const void* key) {
  if (!current) return nullptr;
  dispatch_queue_s* queue = innermost();
  const std::lock_guard lock(queue->mutex);
  const auto found = queue->specifics.find(key);
  return found == queue->specifics.end() ? nullptr : found->second.first;
}

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  in_turn(known(queue), context, work, false);
}

void dispatch_barrier_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  in_turn(known(queue), context, work, true);
}

void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  metalloid::dispatch::submit(queue, {context, work});
}

void dispatch_barrier_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  metalloid::dispatch::submit(queue, {context, work}, true);
}

void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  const auto time = metalloid::dispatch::time_point_of(when);
  if (!time) return;
  struct Later {
    dispatch_queue_s* queue;
    Work work;
  };
  auto* later = new Later{metalloid::metal::retain(known(queue)), {context, work}};
  metalloid::dispatch::on_some_thread_at(*time, later, [](void* given) {
    const Later due = *static_cast<Later*>(given);
    delete static_cast<Later*>(given);
    metalloid::dispatch::submit(due.queue, due.work);
    metalloid::metal::release(due.queue);
  });
}

void dispatch_once_f(dispatch_once_t* predicate, void* context, dispatch_function_t work) {
  const std::atomic_ref state(*predicate);
  if (state.load(std::memory_order_acquire) == once_done) return;
  {
    std::unique_lock lock(once().mutex);
    while (state.load() == once_runs) once().changed.wait(lock);
    if (state.load() == once_done) return;
    state.store(once_runs);
  }
  struct Finished {
    std::atomic_ref<dispatch_once_t> state;
    long result = 0;  // an exception leaves it undone
    ~Finished() {
      const std::lock_guard lock(once().mutex);
      state.store(result, std::memory_order_release);
      once().changed.notify_all();
    }
  } finished{state};
  work(context);
  finished.result = once_done;
}

void dispatch_apply_f(size_t count, dispatch_queue_t queue, void* context, void (*work)(void*, size_t)) {
  dispatch_queue_s* one = queue ? known(queue) : nullptr;
  const size_t helpers = std::min<size_t>(count, std::thread::hardware_concurrency());
  if (helpers <= 1 || (one && !one->concurrent)) {
    struct Serial {
      void (*work)(void*, size_t);
      void* context;
      size_t count;
    } serial{work, context, count};
    const auto all = [](void* given) {
      const auto& turns = *static_cast<Serial*>(given);
      for (size_t i = 0; i < turns.count; ++i) turns.work(turns.context, i);
    };
    return one ? in_turn(one, &serial, all, false) : all(&serial);
  }
  // Helpers may come when all is done: the last who knows of the turns lets go of them.
  auto turns = std::make_shared<Turns>();
  turns->work = work;
  turns->context = context;
  turns->count = count;
  for (size_t i = 1; i < helpers; ++i) {
    metalloid::dispatch::on_some_thread(new std::shared_ptr<Turns>(turns), [](void* given) {
      auto* held = static_cast<std::shared_ptr<Turns>*>(given);
      (*held)->take();
      delete held;
    });
  }
  turns->take();
  turns->all_done.wait();
}

}  // extern "C"
