// Locks, threads, dates.
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "metal/foundation/foundation.h"

namespace {

using Clock = std::chrono::system_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }
constexpr double reference_date = 978307200;  // the beginning of 2001, in seconds of 1970

}  // namespace

// What all of them have, over a mutex.
#define METALLOID_NAMED_LOCK(Mutex) \
  {                                 \
    Mutex mutex;                    \
  }                                 \
  @synthesize name = _name;         \
  -(void)dealloc {                  \
    [_name release];                \
    [super dealloc];                \
  }                                 \
  -(void)lock {                     \
    mutex.lock();                   \
  }                                 \
  -(void)unlock {                   \
    mutex.unlock();                 \
  }

@implementation NSLock
METALLOID_NAMED_LOCK(std::mutex)
- (BOOL)tryLock {
  return mutex.try_lock();
}
@end

@implementation NSRecursiveLock
METALLOID_NAMED_LOCK(std::recursive_mutex)
- (BOOL)tryLock {
  return mutex.try_lock();
}
@end

// A lock that can be waited at.
struct Waited : std::mutex {
  std::condition_variable changed;
};

@implementation NSCondition
METALLOID_NAMED_LOCK(Waited)
- (void)wait {
  std::unique_lock<std::mutex> held(mutex, std::adopt_lock);
  mutex.changed.wait(held);
  held.release();
}
- (BOOL)waitUntilDate:(NSDate*)date {
  std::unique_lock<std::mutex> held(mutex, std::adopt_lock);
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>([date timeIntervalSinceNow]));
  const bool came = mutex.changed.wait_until(held, until) == std::cv_status::no_timeout;
  held.release();
  return came;
}
- (void)signal {
  mutex.changed.notify_one();
}
- (void)broadcast {
  mutex.changed.notify_all();
}
@end

@implementation NSDate {
  double seconds;  // since 1970
}
+ (instancetype)date {
  return [self dateWithTimeIntervalSinceNow:0];
}
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)later {
  return [self dateWithTimeIntervalSince1970:now() + later];
}
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)since {
  NSDate* date = [[[self alloc] init] autorelease];
  date->seconds = since;
  return date;
}
- (NSTimeInterval)timeIntervalSince1970 {
  return seconds;
}
- (NSTimeInterval)timeIntervalSinceNow {
  return seconds - now();
}
- (NSTimeInterval)timeIntervalSinceReferenceDate {
  return seconds - reference_date;
}
- (NSTimeInterval)timeIntervalSinceDate:(NSDate*)other {
  return seconds - other->seconds;
}
@end

@implementation NSThread
+ (NSThread*)currentThread {
  static thread_local NSThread* thread = [[NSThread alloc] init];
  return thread;
}
+ (BOOL)isMainThread {
  return gettid() == getpid();
}
+ (void)sleepForTimeInterval:(NSTimeInterval)seconds {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}
@end
