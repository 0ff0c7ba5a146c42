#include "support/fork_safe_mutex.h"

#include <pthread.h>

namespace metalloid::support {

struct AllForkSafeMutexes {
  std::mutex mutex;
  ForkSafeMutex* first = nullptr;

  static AllForkSafeMutexes& instance() {
    static auto* only = new AllForkSafeMutexes;
    return *only;
  }

  static void before_fork() {
    AllForkSafeMutexes& all = instance();
    all.mutex.lock();
    for (ForkSafeMutex* each = all.first; each; each = each->next_) each->lock();
  }
  // In the parent and in the child.
  static void after_fork() {
    AllForkSafeMutexes& all = instance();
    for (ForkSafeMutex* each = all.first; each; each = each->next_) each->unlock();
    all.mutex.unlock();
  }

  AllForkSafeMutexes() { ::pthread_atfork(before_fork, after_fork, after_fork); }
};

ForkSafeMutex::ForkSafeMutex() {
  AllForkSafeMutexes& all = AllForkSafeMutexes::instance();
  std::lock_guard lock(all.mutex);
  next_ = all.first;
  if (next_) next_->previous_ = this;
  all.first = this;
}

ForkSafeMutex::~ForkSafeMutex() {
  AllForkSafeMutexes& all = AllForkSafeMutexes::instance();
  std::lock_guard lock(all.mutex);
  (previous_ ? previous_->next_ : all.first) = next_;
  if (next_) next_->previous_ = previous_;
}

}  // namespace metalloid::support
