// Objects that a thread without a pool lets go of later, also in destructors of its thread_local variables, go with it.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include <thread>

#include "checking.h"

struct AtTheEnd {
  ~AtTheEnd() {
    for (int i = 0; i < 100; ++i) [[[NSObject alloc] init] autorelease];
  }
};

// Autoreleases another one when it goes.
@interface Chained : NSObject
@end
@implementation Chained
- (void)dealloc {
  [[[NSObject alloc] init] autorelease];
  [super dealloc];
}
@end

int main() {
  const size_t before = metalloid_live_objects();
  for (int round = 0; round < 20; ++round) {
    std::thread([] {
      thread_local AtTheEnd made_first;
      (void)&made_first;
      [[[Chained alloc] init] autorelease];
      for (int i = 0; i < 1000; ++i) [[[NSObject alloc] init] autorelease];
    }).join();
  }
  CHECK(metalloid_live_objects() == before);
  puts("ends of threads");
}
