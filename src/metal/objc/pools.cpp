// Autorelease pools: each thread has a stack of objects, and a pool is a height of it. What is released later without
// any pool goes when the thread ends.
#include <pthread.h>
#include <unistd.h>

#include <memory>
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
};

thread_local Objects* current = nullptr;

// Behind the destructors of the program's thread_local variables, which may call methods; and once more, if letting
// go of objects brought others. The process's end takes the main thread's objects with it.
pthread_key_t end_of_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    pthread_key_create(&made, [](void* ended) {
      const std::unique_ptr<Objects> objects(static_cast<Objects*>(ended));
      current = nullptr;
      if (gettid() != getpid()) objects->drain(0);
    });
    return made;
  }();
  return key;
}

Objects& objects() {
  if (!current) {
    current = new Objects;
    pthread_setspecific(end_of_thread(), current);
  }
  return *current;
}

}  // namespace

// One more than the height, so that it is not null.
void* push_pool() { return reinterpret_cast<void*>(objects().stack.size() + 1); }
void pop_pool(void* pool) { objects().drain(reinterpret_cast<std::size_t>(pool) - 1); }

void autorelease(void* object) {
  if (object) objects().stack.push_back(object);
}

}  // namespace metalloid::objective_c

extern "C" {

void* objc_autoreleasePoolPush() { return metalloid::objective_c::push_pool(); }
void objc_autoreleasePoolPop(void* pool) { metalloid::objective_c::pop_pool(pool); }

}  // extern "C"
