// What stands behind dispatch_queue_t.
#pragma once

#include <dispatch/dispatch.h>

#include <atomic>
#include <mutex>
#include <string>

struct dispatch_queue_s {
  std::string label;
  std::recursive_mutex mutex;  // work may dispatch to its own queue
  std::atomic<unsigned> references = 1;
};
