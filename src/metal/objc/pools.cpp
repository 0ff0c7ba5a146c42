// Autorelease pools: each thread has a stack of objects, and a pool is a height of it. What is released later without
// any pool goes when the thread ends.
#include <unistd.h>

#include <vector>

#include "metal/objc/runtime.h"

namespace metalloid::objective_c {
namespace {

struct Objects {
  std::vector<void*> stack;

  // Objects may come while others go.
  void drain(std::size_t height) {
    while (stack.size() > height) {
      void* last = stack.back();
      stack.pop_back();
      objc_release(last);
    }
  }
  // The process's end takes the main thread's with it.
  ~Objects() {
    if (gettid() != getpid()) drain(0);
  }
};
thread_local Objects objects;

}  // namespace

// One more than the height, so that it is not null.
void* push_pool() { return reinterpret_cast<void*>(objects.stack.size() + 1); }
void pop_pool(void* pool) { objects.drain(reinterpret_cast<std::size_t>(pool) - 1); }

void autorelease(void* object) {
  if (object) objects.stack.push_back(object);
}

}  // namespace metalloid::objective_c

extern "C" {

void* objc_autoreleasePoolPush() { return metalloid::objective_c::push_pool(); }
void objc_autoreleasePoolPop(void* pool) { metalloid::objective_c::pop_pool(pool); }

}  // extern "C"
