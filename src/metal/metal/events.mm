// Events, the listeners of shared ones, and fences.
#include <chrono>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metalloid/queue.h"

using namespace metalloid::metal;

@implementation MetalloidPart
- (id<MTLDevice>)device {
  return owner;
}
- (void)dealloc {
  [_label release];
  [super dealloc];
}
@end

@interface MetalloidEvent : MetalloidPart <MTLSharedEvent>
@end
@implementation MetalloidEvent {
 @public
  metalloid::SharedEvent event;
}
- (uint64_t)signaledValue {
  return event.value();
}
- (void)setSignaledValue:(uint64_t)value {
  event.signal(value);
}
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)patience {
  using std::chrono::milliseconds;
  const auto longest = static_cast<uint64_t>(milliseconds::max().count());
  return event.wait(value, milliseconds(static_cast<std::int64_t>(MIN(patience, longest))));
}
- (void)notifyListener:(MTLSharedEventListener*)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block {
  event.notify(value, [own = held(self), queue = held([listener dispatchQueue]), called = copied((id)block),
                       value](std::uint64_t) {
    dispatch_async((dispatch_queue_t)queue.get(), ^{
      ((MTLSharedEventNotificationBlock)called.get())((id)own.get(), value);
    });
  });
}
@end

id<MTLSharedEvent> metalloid::metal::new_event(id<MTLDevice> device) {
  MetalloidEvent* event = [[MetalloidEvent alloc] init];
  event->owner = device;
  return event;
}

const metalloid::SharedEvent& metalloid::metal::event_of(id<MTLEvent> event) {
  if (![(id)event isKindOfClass:[MetalloidEvent class]]) fail(Fault::type, "an MTLEvent is wanted here");
  return ((MetalloidEvent*)event)->event;
}

@implementation MTLSharedEventListener {
  dispatch_queue_t queue;
}
+ (MTLSharedEventListener*)sharedListener {
  static MTLSharedEventListener* const one = [[MTLSharedEventListener alloc] init];
  return one;
}
- (instancetype)init {
  queue = dispatch_queue_create("shared event listener", DISPATCH_QUEUE_SERIAL);
  return self;
}
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)given {
  dispatch_retain(given);
  queue = given;
  return self;
}
- (dispatch_queue_t)dispatchQueue {
  return queue;
}
- (void)dealloc {
  dispatch_release(queue);
  [super dealloc];
}
@end

// Encoders of a queue run in their order, so that nothing is left to wait for.
@interface MetalloidFence : MetalloidPart <MTLFence>
@end
@implementation MetalloidFence
@end

id<MTLFence> metalloid::metal::new_fence(id<MTLDevice> device) {
  MetalloidFence* fence = [[MetalloidFence alloc] init];
  fence->owner = device;
  return fence;
}
