// Queues, groups, semaphores and what is done once, with functions and with blocks.
#include <dispatch/dispatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checking.h"

enum { count = 1000 };
static int order[count];
static int at;
static atomic_int sum;

static void serial(void) {
  dispatch_queue_t queue = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  CHECK(strcmp(dispatch_queue_get_label(queue), "serial") == 0);
  for (int i = 0; i < count; ++i) {
    dispatch_async(queue, ^{
      order[at++] = i;
    });
  }
  __block int last = -1;
  dispatch_sync(queue, ^{
    last = at;
    // A queue's own work may ask for it again.
    dispatch_sync(queue, ^{
      CHECK(strcmp(dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL), "serial") == 0);
    });
  });
  CHECK(last == count);
  for (int i = 0; i < count; ++i) CHECK(order[i] == i);
  dispatch_release(queue);
}

static void concurrent(void) {
  dispatch_queue_t queue = dispatch_queue_create("concurrent", DISPATCH_QUEUE_CONCURRENT);
  // Two that wait for each other: only if both run at a time do they end.
  dispatch_semaphore_t here = dispatch_semaphore_create(0), there = dispatch_semaphore_create(0);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async(group, queue, ^{
    dispatch_semaphore_signal(here);
    dispatch_semaphore_wait(there, DISPATCH_TIME_FOREVER);
  });
  dispatch_group_async(group, queue, ^{
    dispatch_semaphore_signal(there);
    dispatch_semaphore_wait(here, DISPATCH_TIME_FOREVER);
  });
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0);
  // A barrier is alone.
  __block atomic_int inside = 0, alone = 1;
  for (int i = 0; i < 200; ++i) {
    if (i % 20 == 0) {
      dispatch_barrier_async(queue, ^{
        if (atomic_fetch_add(&inside, 1) != 0) alone = 0;
        usleep(100);
        atomic_fetch_sub(&inside, 1);
      });
    }
    dispatch_group_async(group, queue, ^{
      atomic_fetch_add(&inside, 1);
      atomic_fetch_add(&sum, 1);
      atomic_fetch_sub(&inside, 1);
    });
  }
  CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, 60 * (int64_t)NSEC_PER_SEC)) == 0);
  CHECK(sum == 200 && alone == 1);
  dispatch_semaphore_t told = dispatch_semaphore_create(0);
  dispatch_group_notify(group, queue, ^{
    dispatch_semaphore_signal(told);
  });
  CHECK(dispatch_semaphore_wait(told, DISPATCH_TIME_FOREVER) == 0);
  CHECK(dispatch_semaphore_wait(told, dispatch_time(DISPATCH_TIME_NOW, 1000000)) != 0);
  dispatch_release(told);
  dispatch_release(here);
  dispatch_release(there);
  dispatch_release(group);
  dispatch_release(queue);
}

static void turns(void) {
  static atomic_int seen[count];
  dispatch_apply(count, dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^(size_t i) {
    atomic_fetch_add(&seen[i], 1);
  });
  for (int i = 0; i < count; ++i) CHECK(seen[i] == 1);
}

static dispatch_once_t once;
static atomic_int times;
static void* race(void* unused) {
  dispatch_once(&once, ^{
    usleep(10000);
    atomic_fetch_add(&times, 1);
  });
  CHECK(times == 1);
  return unused;
}

static void once_only(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, race, NULL);
  for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
  CHECK(times == 1);
}

static void later(void) {
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 20 * (int64_t)NSEC_PER_MSEC), dispatch_get_global_queue(0, 0), ^{
    dispatch_semaphore_signal(done);
  });
  CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 60 * (int64_t)NSEC_PER_SEC)) == 0);
  dispatch_release(done);
}

static void data(void) {
  __block int freed = 0;
  dispatch_queue_t queue = dispatch_queue_create("data", NULL);
  dispatch_data_t own = dispatch_data_create("bytes", 5, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  dispatch_data_t shared = dispatch_data_create(order, sizeof(order), queue, ^{
    freed = 1;
  });
  const void* bytes = NULL;
  size_t size = 0;
  dispatch_data_t map = dispatch_data_create_map(shared, &bytes, &size);
  CHECK(bytes == order && size == sizeof(order) && dispatch_data_get_size(own) == 5);
  CHECK(dispatch_data_get_size(dispatch_data_empty) == 0);
  dispatch_release(map);
  dispatch_release(shared);
  dispatch_sync(queue, ^{
    CHECK(freed);
  });
  dispatch_release(own);
  dispatch_release(queue);
}

// Threads do not come along into a child; queues of its own work there.
static void child(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    dispatch_queue_t queue = dispatch_queue_create("child", NULL);
    __block int ran = 0;
    dispatch_async(queue, ^{
      ran = 1;
    });
    dispatch_sync(queue, ^{
      _exit(ran ? 0 : 1);
    });
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  serial();
  concurrent();
  turns();
  once_only();
  later();
  data();
  child();
  puts("dispatching");
  return 0;
}
