// What nobody catches, each by its name.
#import <Metal/Metal.h>

#include <stdexcept>
#include <thread>

#include "checking.h"

static void throws() noexcept { @throw @"through noexcept"; }

static void note(NSException* exception) {
  printf("handler: %s\n", exception.name.UTF8String);
  fflush(stdout);
}

int main(int, char** arguments) {
  NSString* what = [NSString stringWithUTF8String:arguments[1]];
  NSException* exception = [NSException exceptionWithName:@"Name" reason:@"a reason" userInfo:nil];
  if ([what isEqual:@"exception"]) [exception raise];
  if ([what isEqual:@"string"]) @throw @"a string";
  if ([what isEqual:@"foundation"]) [[NSArray array] objectAtIndex:2];
  if ([what isEqual:@"handler"]) {
    NSSetUncaughtExceptionHandler(note);
    CHECK(NSGetUncaughtExceptionHandler() == note);
    [exception raise];
  }
  if ([what isEqual:@"noexcept"]) throws();
  if ([what isEqual:@"finally"]) {
    @try {
      [exception raise];
    } @finally {
      puts("finally");
      fflush(stdout);
    }
  }
  if ([what isEqual:@"thread"]) {
    std::thread([=] { [exception raise]; }).join();
  }
  if ([what isEqual:@"queue"]) {
    dispatch_queue_t queue = dispatch_queue_create("one", nullptr);
    dispatch_async(queue, ^{
      [exception raise];
    });
    dispatch_sync(queue, ^{
      puts("behind it");
    });
  }
  if ([what isEqual:@"completed"]) {
    id<MTLCommandBuffer> commands = [[MTLCreateSystemDefaultDevice() newCommandQueue] commandBuffer];
    [commands addCompletedHandler:^(id<MTLCommandBuffer>) {
      [exception raise];
    }];
    [commands commit];
    [commands waitUntilCompleted];
  }
  if ([what isEqual:@"c++"]) throw std::runtime_error("an error of C++");
  if ([what isEqual:@"c++ finally"]) {
    @try {
      throw std::runtime_error("an error of C++");
    } @finally {
      puts("finally");
      fflush(stdout);
    }
  }
  puts("nothing ended it");
}
