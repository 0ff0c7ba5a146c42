// Notifications: who is told of what, and who is not any more.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include "checking.h"

@interface Listener : NSObject {
 @public
  int told;
  NSString* last;
}
@end
@implementation Listener
- (void)hear:(NSNotification*)notification {
  ++told;
  last = notification.userInfo[@"key"];
}
@end

int main(void) {
  size_t objects = 0;
  for (int turn = 0; turn < 2; ++turn) {
    @autoreleasepool {
      NSNotificationCenter* center = [NSNotificationCenter defaultCenter];
      if (turn == 1) objects = metalloid_live_objects();
      Listener* one = [[Listener alloc] init];
      Listener* any = [[Listener alloc] init];
      __block int blocks = 0;
      [center addObserver:one selector:@selector(hear:) name:@"name" object:any];
      [center addObserver:any selector:@selector(hear:) name:nil object:nil];
      id token = [center addObserverForName:@"name"
                                     object:nil
                                      queue:nil
                                 usingBlock:^(NSNotification* notification) {
                                   CHECK([notification.name isEqual:@"name"]);
                                   ++blocks;
                                   [center removeObserver:one];
                                 }];
      [center postNotificationName:@"name" object:one];
      CHECK(one->told == 0 && any->told == 1 && blocks == 1);
      [center addObserver:one selector:@selector(hear:) name:@"name" object:any];
      [center postNotificationName:@"name" object:any userInfo:@{@"key" : @"value"}];
      CHECK(one->told == 1 && any->told == 2 && blocks == 2 && [one->last isEqual:@"value"]);
      [center postNotificationName:@"name" object:any];
      CHECK(one->told == 1);
      [center removeObserver:token];
      [center removeObserver:any name:@"other" object:nil];
      [center postNotificationName:@"else" object:nil];
      CHECK(any->told == 4 && blocks == 3);
      [center removeObserver:any];
      [center postNotificationName:@"name" object:any];
      CHECK(any->told == 4 && blocks == 3);
      int caught = 0;
      NSString* none = nil;
      @try {
        [center postNotificationName:none object:nil];
      } @catch (NSException* exception) {
        caught += [exception.name isEqual:NSInvalidArgumentException];
      }
      CHECK(caught == 1);
      [one release];
      [any release];
    }
  }
  CHECK(metalloid_live_objects() == objects);
  puts("notifications");
  return 0;
}
