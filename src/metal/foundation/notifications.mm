// NSNotification and its center.
#include <mutex>
#include <vector>

#include "metal/foundation/foundation.h"

using metalloid::objective_c::raise_invalid_argument;

@implementation NSNotification {
  NSNotificationName name;
  id object;
  NSDictionary* info;
}
@synthesize name = name, object = object, userInfo = info;
+ (instancetype)notificationWithName:(NSNotificationName)name object:(id)object {
  return [self notificationWithName:name object:object userInfo:nil];
}
+ (instancetype)notificationWithName:(NSNotificationName)its_name
                              object:(id)its_object
                            userInfo:(NSDictionary*)its_info {
  if (!its_name)
    raise_invalid_argument("*** +[NSNotification notificationWithName:object:userInfo:]: name cannot be nil");
  NSNotification* one = [[[self alloc] init] autorelease];
  one->name = [its_name copy];
  one->object = [its_object retain];
  one->info = [its_info copy];
  return one;
}
- (void)dealloc {
  [name release];
  [object release];
  [info release];
  [super dealloc];
}
@end

// An observer with its wishes; itself what observes where there is a block.
@interface MetalloidObservation : NSObject
@end
@implementation MetalloidObservation {
 @public
  id observer;  // not kept
  SEL selector;
  NSNotificationName name;
  id object;  // not kept
  void (^block)(NSNotification*);
}
- (BOOL)wants:(NSNotification*)notification {
  return (!name || [name isEqual:[notification name]]) && (!object || object == [notification object]);
}
- (void)take:(NSNotification*)notification {
  if (block) return block(notification);
  [observer performSelector:selector withObject:notification];
}
- (void)dealloc {
  [name release];
  [block release];
  [super dealloc];
}
@end

@implementation NSNotificationCenter {
  std::mutex mutex;
  std::vector<MetalloidObservation*> observations;
}
+ (NSNotificationCenter*)defaultCenter {
  static NSNotificationCenter* const one = [[NSNotificationCenter alloc] init];
  return one;
}
- (void)add:(MetalloidObservation*)one {
  const std::lock_guard lock(mutex);
  observations.push_back(one);
}
- (void)addObserver:(id)observer selector:(SEL)selector name:(NSNotificationName)name object:(id)object {
  MetalloidObservation* one = [[MetalloidObservation alloc] init];
  one->observer = observer;
  one->selector = selector;
  one->name = [name copy];
  one->object = object;
  [self add:one];
}
- (id<NSObject>)addObserverForName:(NSNotificationName)name
                            object:(id)object
                             queue:(NSOperationQueue*)queue
                        usingBlock:(void (^)(NSNotification* notification))block {
  MetalloidObservation* one = [[MetalloidObservation alloc] init];
  one->observer = one;
  one->name = [name copy];
  one->object = object;
  one->block = (void (^)(NSNotification*))_Block_copy((__bridge void*)block);
  [self add:one];
  return one;
}
- (void)removeObserver:(id)observer {
  [self removeObserver:observer name:nil object:nil];
}
- (void)removeObserver:(id)observer name:(NSNotificationName)name object:(id)object {
  std::vector<MetalloidObservation*> gone;
  {
    const std::lock_guard lock(mutex);
    std::erase_if(observations, [&](MetalloidObservation* one) {
      if (one->observer != observer || (name && ![name isEqual:one->name]) || (object && object != one->object))
        return false;
      gone.push_back(one);
      return true;
    });
  }
  for (id one : gone) [one release];
}
// Without the lock: observers may come and go while others are told.
- (void)postNotification:(NSNotification*)notification {
  if (!notification) raise_invalid_argument("*** -[NSNotificationCenter postNotification:]: notification is nil");
  std::vector<MetalloidObservation*> told;
  {
    const std::lock_guard lock(mutex);
    for (MetalloidObservation* one : observations) {
      if ([one wants:notification]) told.push_back([[one retain] autorelease]);
    }
  }
  for (MetalloidObservation* one : told) [one take:notification];
}
- (void)postNotificationName:(NSNotificationName)name object:(id)object {
  [self postNotificationName:name object:object userInfo:nil];
}
- (void)postNotificationName:(NSNotificationName)name object:(id)object userInfo:(NSDictionary*)info {
  [self postNotification:[NSNotification notificationWithName:name object:object userInfo:info]];
}
- (void)dealloc {
  for (id one : observations) [one release];
  [super dealloc];
}
@end
