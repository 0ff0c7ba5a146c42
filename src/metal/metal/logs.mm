// MTLLogState: handlers of what the kernels of a command buffer print.
#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "metal/metal/faces.h"
#include "metal/metal/parts.h"
#include "metalloid/log.h"

using namespace metalloid::metal;
using Handler = void (^)(NSString* subsystem, NSString* category, MTLLogLevel level, NSString* message);

@implementation MTLLogStateDescriptor
- (id)copy {
  MTLLogStateDescriptor* other = [[MTLLogStateDescriptor alloc] init];
  [other setLevel:_level];
  [other setBufferSize:_bufferSize];
  return other;
}
@end

@interface MetalloidLogState : NSObject <MTLLogState>
@end
@implementation MetalloidLogState {
 @public
  MTLLogLevel lowest;
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> handlers;
}
- (void)addLogHandler:(Handler)handler {
  const std::lock_guard lock(mutex);
  handlers.push_back(copied((id)handler));
}
@end

namespace {

constexpr MTLLogLevel levels[] = {MTLLogLevelDebug, MTLLogLevelInfo, MTLLogLevelNotice, MTLLogLevelError,
                                  MTLLogLevelFault};

// Of the command buffer whose work this thread does.
thread_local MetalloidLogState* current = nil;

void tell(const metalloid::LogMessage& message) {
  const MTLLogLevel level = levels[static_cast<std::size_t>(message.level)];
  if (!current || current->handlers.empty()) {
    std::fprintf(stderr, "%s\n", message.description().c_str());
    return;
  }
  if (level < current->lowest) return;
  std::vector<std::shared_ptr<void>> handlers;
  {
    const std::lock_guard lock(current->mutex);
    handlers = current->handlers;
  }
  @autoreleasepool {
    for (const auto& one : handlers) {
      call_back([&] {
        ((Handler)one.get())(string_of(message.subsystem), string_of(message.category), level, string_of(message.text));
      });
    }
  }
}

}  // namespace

id<MTLLogState> metalloid::metal::new_log_state(MTLLogStateDescriptor* descriptor) {
  static const bool is_set = (set_log_handler(tell), true);
  static_cast<void>(is_set);
  MetalloidLogState* state = [[MetalloidLogState alloc] init];
  state->lowest = [descriptor level];
  return state;
}

void metalloid::metal::use_log(CommandBufferObject& commands, bool begins) {
  const auto& log = commands.log ? commands.log : commands.queue() ? commands.queue()->log : nullptr;
  if (!log) return;
  commands.call([log, begins] { current = begins ? (MetalloidLogState*)log.get() : nil; });
}
