// Groups and semaphores: what threads wait for.
#include <condition_variable>
#include <mutex>
#include <vector>

#include "metal/dispatch/work.h"
#include "metalloid/metal/host.h"
#include "metalloid/metal/object.h"

using metalloid::dispatch::time_point_of;
using metalloid::dispatch::Work;

namespace {

// True if the condition holds within the time.
template <typename Condition>
bool wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, dispatch_time_t timeout,
              const Condition& condition) {
  if (const auto until = time_point_of(timeout)) return changed.wait_until(lock, *until, condition);
  changed.wait(lock, condition);
  return true;
}

}  // namespace

struct dispatch_group_s : metalloid::metal::Object {
  static constexpr const char* class_name = "MetalloidDispatchGroup";
  struct Notice {
    dispatch_queue_t queue;
    Work work;
  };
  std::mutex mutex;
  std::condition_variable changed;
  long inside = 0;
  std::vector<Notice> notices;
};

struct dispatch_semaphore_s : metalloid::metal::Object {
  static constexpr const char* class_name = "MetalloidDispatchSemaphore";
  explicit dispatch_semaphore_s(intptr_t start) : value(start) {}
  std::mutex mutex;
  std::condition_variable changed;
  intptr_t value;
  long waiting = 0;
};

namespace {

void give_notice(const std::vector<dispatch_group_s::Notice>& notices) {
  for (const auto& notice : notices) {
    metalloid::dispatch::submit(notice.queue, notice.work);
    dispatch_release(notice.queue);
  }
}

}  // namespace

extern "C" {

dispatch_group_t dispatch_group_create() { return metalloid::metal::make_object<dispatch_group_s>(); }

// A group lives while something is inside.
void dispatch_group_enter(dispatch_group_t group) {
  const std::lock_guard lock(group->mutex);
  if (group->inside++ == 0) metalloid::metal::retain(group);
}

void dispatch_group_leave(dispatch_group_t group) {
  std::vector<dispatch_group_s::Notice> notices;
  {
    const std::lock_guard lock(group->mutex);
    if (group->inside == 0) {
      metalloid::metal::fail(metalloid::metal::Fault::misuse, "Unbalanced call to dispatch_group_leave()");
    }
    if (--group->inside != 0) return;
    notices.swap(group->notices);
    group->changed.notify_all();
  }
  give_notice(notices);
  metalloid::metal::release(group);
}

void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  dispatch_group_enter(group);
  metalloid::dispatch::submit(queue, {context, work, group});
}

void dispatch_group_notify_f(dispatch_group_t group, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  dispatch_retain(queue);
  {
    const std::lock_guard lock(group->mutex);
    if (group->inside != 0) {
      group->notices.push_back({queue, {context, work}});
      return;
    }
  }
  give_notice({{queue, {context, work}}});
}

intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t timeout) {
  std::unique_lock lock(group->mutex);
  return wait_for(lock, group->changed, timeout, [&] { return group->inside == 0; }) ? 0 : 1;
}

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
  return value < 0 ? nullptr : metalloid::metal::make_object<dispatch_semaphore_s>(value);
}

intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t timeout) {
  std::unique_lock lock(semaphore->mutex);
  ++semaphore->waiting;
  const bool came = wait_for(lock, semaphore->changed, timeout, [&] { return semaphore->value > 0; });
  --semaphore->waiting;
  if (came) --semaphore->value;
  return came ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore) {
  const std::lock_guard lock(semaphore->mutex);
  ++semaphore->value;
  semaphore->changed.notify_one();
  return semaphore->waiting != 0;
}

}  // extern "C"
