// Objective-C's exceptions: what catches them, what runs as they pass, and what Foundation raises.
#import <Foundation/Foundation.h>
#import <objc/objc-exception.h>
#import <objc/runtime.h>

#include <pthread.h>

#include "checking.h"

@interface Narrow : NSException
@end
@implementation Narrow
@end

static int passed;

static void throw_it(id object) { @throw object; }

static NSException* named(NSString* name) {
  return [NSException exceptionWithName:name reason:@"because" userInfo:@{@"key" : @"value"}];
}

// Which handler takes it.
static int taken_by(id object) {
  @try {
    throw_it(object);
  } @catch (Narrow* one) {
    CHECK(one == object);
    return 1;
  } @catch (NSException* one) {
    CHECK(one == object);
    return 2;
  } @catch (NSString* one) {
    CHECK(one == object);
    return 3;
  } @catch (id one) {
    CHECK(one == object);
    return 4;
  }
  return 0;
}

static int through_finally(void) {
  @try {
    throw_it(named(@"Passing"));
  } @finally {
    ++passed;
  }
  return 1;
}

static int returns_in_the_middle(void) {
  @try {
    return 5;
  } @finally {
    ++passed;
  }
  return 6;
}

static void rethrows(void) {
  @try {
    throw_it(named(@"Again"));
  } @catch (NSException* one) {
    CHECK([one.name isEqual:@"Again"]);
    @throw;
  } @finally {
    ++passed;
  }
}

static void nested(void) {
  int inner = 0;
  @try {
    @try {
      throw_it(named(@"Inner"));
    } @catch (NSString* one) {
      CHECK(NO);
    } @finally {
      @try {
        throw_it(@"while another one passes");
      } @catch (NSString* one) {
        ++inner;
      }
    }
  } @catch (NSException* one) {
    CHECK(inner == 1 && [one.name isEqual:@"Inner"]);
    ++inner;
  }
  CHECK(inner == 2);
}

static void replaced(void) {
  @try {
    @try {
      throw_it(named(@"First"));
    } @finally {
      throw_it(named(@"Second"));
    }
  } @catch (NSException* one) {
    CHECK([one.name isEqual:@"Second"]);
    ++passed;
  }
}

static void in_loops(void) {
  int caught = 0, finished = 0;
  for (int i = 0; i < 1000; ++i) {
    @autoreleasepool {
      @try {
        if (i % 2 == 0) continue;
        if (i % 3 == 0) [NSException raise:NSGenericException format:@"turn %d", i];
      } @catch (NSException* one) {
        CHECK([one.reason isEqual:[NSString stringWithFormat:@"turn %d", i]]);
        ++caught;
      } @finally {
        ++finished;
      }
    }
  }
  CHECK(caught == 167 && finished == 1000);
}

static void* tries_the_lock(void* object) {
  @synchronized((id)object) {
    ++passed;
  }
  return NULL;
}

static void synchronized_unlocks(void) {
  id object = [[NSObject alloc] init];
  @try {
    @synchronized(object) {
      throw_it(@"with a lock");
    }
  } @catch (NSString* one) {
    ++passed;
  }
  pthread_t thread;
  pthread_create(&thread, NULL, tries_the_lock, object);
  pthread_join(thread, NULL);
  [object release];
}

static int compared(const void* a, const void* b) {
  throw_it([NSString stringWithFormat:@"%d", *(const int*)a + *(const int*)b]);
  return 0;
}

// Frames of C between.
static void through_c(void) {
  int numbers[2] = {3, 4};
  @try {
    qsort(numbers, 2, sizeof(int), compared);
    CHECK(NO);
  } @catch (NSString* one) {
    CHECK([one isEqual:@"7"]);
    ++passed;
  }
}

static void through_dispatch(void) {
  dispatch_queue_t queue = dispatch_queue_create("one", NULL);
  @try {
    dispatch_sync(queue, ^{
      throw_it(@"in a block");
    });
    CHECK(NO);
  } @catch (NSString* one) {
    ++passed;
  }
  __block int ran = 0;
  dispatch_sync(queue, ^{
    @try {
      throw_it(@"caught in a block");
    } @catch (id one) {
      ++ran;
    }
  });
  CHECK(ran == 1);
  dispatch_release(queue);
  @try {
    [@[ @2, @1 ] sortedArrayUsingComparator:^NSComparisonResult(id a, id b) {
      @throw a;
    }];
    CHECK(NO);
  } @catch (NSNumber* one) {
    ++passed;
  }
}

static NSString* raised(void (^work)(void), NSString* name) {
  @try {
    work();
  } @catch (NSException* one) {
    CHECK([one.name isEqual:name]);
    return one.reason;
  }
  return @"nothing";
}
#define RAISES(name, text, ...) \
  CHECK([raised(                \
      ^{                        \
        __VA_ARGS__;            \
      },                        \
      name) containsString:text])

@interface Absent : NSObject
- (void)asserts:(int)one;
@end
@implementation Absent
- (void)asserts:(int)one {
  NSAssert(one == 1, @"one is %d", one);
  NSParameterAssert(one == 2);
}
@end

static void foundation_raises(void) {
  NSMutableArray* array = [NSMutableArray arrayWithArray:@[ @1, @2, @3 ]];
  NSMutableDictionary* map = [NSMutableDictionary dictionary];
  NSMutableString* text = [NSMutableString stringWithString:@"text"];
  NSData* data = [NSData dataWithBytes:"bytes" length:5];
  id nothing = nil;
  RAISES(NSRangeException, @"index 3 beyond bounds [0 .. 2]", [array objectAtIndex:3]);
  RAISES(NSRangeException, @"index 7 beyond bounds [0 .. 2]", (void)array[7]);
  RAISES(NSRangeException, @"index 0 beyond bounds for empty array", [@[] objectAtIndex:0]);
  RAISES(NSRangeException, @"objectAtIndex", [array objectAtIndex:3]);
  RAISES(NSRangeException, @"insertObject:atIndex:", [array insertObject:@1 atIndex:4]);
  RAISES(NSRangeException, @"removeObjectAtIndex:", [array removeObjectAtIndex:3]);
  RAISES(NSRangeException, @"subarrayWithRange:", [array subarrayWithRange:NSMakeRange(2, 2)]);
  RAISES(NSRangeException, @"subarrayWithRange:", [array subarrayWithRange:NSMakeRange(1, NSUIntegerMax)]);
  RAISES(NSInvalidArgumentException, @"object cannot be nil", [array addObject:nothing]);
  RAISES(NSInvalidArgumentException, @"object cannot be nil", [array insertObject:nothing atIndex:0]);
  RAISES(NSInvalidArgumentException, @"nil object from objects[1]", (void)@[ @1, nothing ]);
  RAISES(NSInvalidArgumentException, @"object cannot be nil (key: a)", [map setObject:nothing forKey:@"a"]);
  RAISES(NSInvalidArgumentException, @"key cannot be nil", [map setObject:@1 forKey:nothing]);
  RAISES(NSInvalidArgumentException, @"key cannot be nil", [map removeObjectForKey:nothing]);
  RAISES(NSInvalidArgumentException, @"nil object from objects[0]", (void)@{@"a" : nothing});
  RAISES(NSInvalidArgumentException, @"object cannot be nil", [[NSMutableSet set] addObject:nothing]);
  RAISES(NSRangeException, @"characterAtIndex:", [text characterAtIndex:4]);
  RAISES(NSRangeException, @"substringFromIndex:", [text substringFromIndex:5]);
  RAISES(NSRangeException, @"substringToIndex:", [text substringToIndex:5]);
  RAISES(NSRangeException, @"substringWithRange:", [text substringWithRange:NSMakeRange(3, 2)]);
  RAISES(NSRangeException, @"Range", [text deleteCharactersInRange:NSMakeRange(3, 2)]);
  RAISES(NSInvalidArgumentException, @"nil argument", [text appendString:nothing]);
  RAISES(NSInvalidArgumentException, @"NULL cString", (void)[[NSString alloc] initWithUTF8String:NULL]);
  RAISES(NSRangeException, @"subdataWithRange:", [data subdataWithRange:NSMakeRange(3, 3)]);
  RAISES(NSInternalInconsistencyException, @"one is 3", [[Absent new] asserts:3]);
  RAISES(NSInternalInconsistencyException, @"Invalid parameter not satisfying: one == 2", [[Absent new] asserts:1]);
  RAISES(
      NSGenericException, @"was mutated while being enumerated", for (id one in array) {
        (void)one;
        [array addObject:@4];
      });
  CHECK(array.count >= 3 && map.count == 0 && [text isEqual:@"text"]);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundeclared-selector"
static void selectors_that_nobody_answers(void) {
  Absent* one = [[Absent alloc] init];
  NSString* said = raised(
      ^{
        [one performSelector:@selector(paint)];
      },
      NSInvalidArgumentException);
  CHECK([said isEqual:[NSString stringWithFormat:@"-[Absent paint]: unrecognized selector sent to instance %p", one]]);
  said = raised(
      ^{
        [Absent performSelector:@selector(paint)];
      },
      NSInvalidArgumentException);
  CHECK([said hasPrefix:@"+[Absent paint]: unrecognized selector sent to class 0x"]);
  [one release];
}
#pragma clang diagnostic pop

static id with_more(id object) {
  return [object isKindOfClass:[NSString class]] ? [object stringByAppendingString:@", preprocessed"] : object;
}

int main(void) {
  @autoreleasepool {
    CHECK(taken_by([Narrow exceptionWithName:@"n" reason:nil userInfo:nil]) == 1);
    CHECK(taken_by(named(@"n")) == 2);
    CHECK(taken_by(@"a literal") == 3 && taken_by([NSString stringWithFormat:@"%d", 1]) == 3);
    CHECK(taken_by(@1) == 4 && taken_by([NSObject class]) == 4);
    CHECK(taken_by(^{
            ++passed;
          }) == 4);

    NSException* one = named(@"name");
    CHECK([one.name isEqual:@"name"] && [one.reason isEqual:@"because"] && [one.userInfo[@"key"] isEqual:@"value"]);
    CHECK(one.callStackReturnAddresses.count == 0);
    @try {
      [one raise];
    } @catch (NSException* caught) {
      CHECK(caught == one && caught.callStackReturnAddresses.count > 1);
      CHECK(caught.callStackSymbols.count == caught.callStackReturnAddresses.count);
    }
    passed = 0;
    int caught = 0;
    @try {
      CHECK(through_finally() == 0);
    } @catch (NSException* passing) {
      ++caught;
    }
    CHECK(passed == 1 && caught == 1);
    CHECK(returns_in_the_middle() == 5 && passed == 2);
    @try {
      rethrows();
    } @catch (NSException* again) {
      ++caught;
    }
    CHECK(passed == 3 && caught == 2);
    @try {
      throw_it(@"for anybody");
    } @catch (...) {
      ++caught;
    } @
    try {
      @try {
        throw_it(@"for anybody, again");
      } @catch (...) {
        ++passed;
        @throw;
      }
    } @catch (NSString* again) {
      CHECK([again isEqual:@"for anybody, again"]);
      ++caught;
    }
    CHECK(passed == 4 && caught == 4);
    nested();
    replaced();
    in_loops();
    synchronized_unlocks();
    through_c();
    through_dispatch();
    CHECK(passed == 10);
    foundation_raises();
    selectors_that_nobody_answers();
    objc_exception_preprocessor before = objc_setExceptionPreprocessor(with_more);
    @try {
      throw_it(@"text");
    } @catch (NSString* more) {
      CHECK([more isEqual:@"text, preprocessed"]);
    }
    objc_setExceptionPreprocessor(before);
  }
  // The pool has what was caught.
  const size_t objects = metalloid_live_objects();
  for (int i = 0; i < 100; ++i) {
    @autoreleasepool {
      (void)taken_by(named(@"n"));
      (void)taken_by([NSMutableArray array]);
    }
  }
  CHECK(metalloid_live_objects() == objects);
  puts("exceptions");
  return 0;
}
