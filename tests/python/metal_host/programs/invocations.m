// Messages as objects: of types that are known at run time alone, and on their way to somebody else.
#import <Metal/Metal.h>
#import <objc/message.h>
#import <objc/runtime.h>

#include "checking.h"

typedef struct {
  float x, y;
} Two;
typedef struct {
  double real;
  long number;
} Mixed;
typedef struct {
  char one;
  short two;
  float values[2];
} Small;
typedef union {
  float real;
  int number;
} Either;

@interface Receiver : NSObject
@end
@implementation Receiver
- (double)weighed:(char)a
              and:(float)b
              and:(MTLSize)size
              and:(Two)two
              and:(Mixed)mixed
              and:(short)c
              and:(double)d
              and:(long double)e
              and:(Small)small
              and:(Either)either
              and:(BOOL)yes
              and:(id)object {
  CHECK(a == -1 && b == 2.5f && size.width == 3 && size.height == 4 && size.depth == 5 && two.x == 6 && two.y == 7);
  CHECK(mixed.real == 8 && mixed.number == 9 && c == -10 && d == 11 && e == 12 && small.one == 13 && small.two == 14);
  CHECK(small.values[0] == 15 && small.values[1] == 16 && either.number == 17 && yes && [object isEqual:@"object"]);
  return 18.5;
}
- (MTLSize)size:(MTLSize)size plus:(NSUInteger)more {
  return MTLSizeMake(size.width + more, size.height + more, size.depth + more);
}
- (Two)two {
  return (Two){1, 2};
}
- (Mixed)mixed {
  return (Mixed){3, 4};
}
- (Small)small {
  return (Small){5, 6, {7, 8}};
}
- (long double)wide:(long double)value {
  return value / 2;
}
- (float)real {
  return 0.5f;
}
- (signed char)low {
  return -3;
}
- (void)raises {
  [NSException raise:@"Raised" format:@"by the receiver"];
}
- (const char*)text:(const char*)text {
  return text;
}
@end

// Hands on what it is sent.
@interface Proxy : NSProxy {
 @public
  id target;
  int forwarded;
}
@end
@implementation Proxy
- (NSMethodSignature*)methodSignatureForSelector:(SEL)selector {
  return [target methodSignatureForSelector:selector];
}
- (void)forwardInvocation:(NSInvocation*)invocation {
  ++forwarded;
  [invocation invokeWithTarget:target];
}
@end

@interface Redirecting : NSObject {
 @public
  id target;
}
@end
@implementation Redirecting
- (id)forwardingTargetForSelector:(SEL)selector {
  return target;
}
@end

static NSInvocation* invocation_of(id target, SEL selector) {
  NSInvocation* one = [NSInvocation invocationWithMethodSignature:[target methodSignatureForSelector:selector]];
  one.target = target;
  one.selector = selector;
  return one;
}

// All kinds of arguments and results, to whoever answers.
static void call_all(Receiver* receiver) {
  Mixed mixed = {8, 9};
  Small small = {13, 14, {15, 16}};
  Either either = {.number = 17};
  CHECK([receiver weighed:-1
                      and:2.5f
                      and:MTLSizeMake(3, 4, 5)
                      and:(Two){6, 7}
                      and:mixed
                      and:-10
                      and:11
                      and:12
                      and:small
                      and:either
                      and:YES
                      and:@"object"] == 18.5);
  MTLSize size = [receiver size:MTLSizeMake(1, 2, 3) plus:10];
  CHECK(size.width == 11 && size.height == 12 && size.depth == 13);
  size = ((MTLSize (*)(id, SEL, MTLSize, NSUInteger))objc_msgSend_stret)(receiver, @selector(size:plus:), size, 1);
  CHECK(size.width == 12 && size.height == 13 && size.depth == 14);
  CHECK([receiver two].x == 1 && [receiver two].y == 2);
  CHECK([receiver mixed].real == 3 && [receiver mixed].number == 4);
  CHECK([receiver small].two == 6 && [receiver small].values[1] == 8);
  CHECK([receiver wide:5] == 2.5L && [receiver real] == 0.5f && [receiver low] == -3);
  int caught = 0;
  @try {
    [receiver raises];
  } @catch (NSException* one) {
    CHECK([one.reason isEqual:@"by the receiver"]);
    ++caught;
  }
  CHECK(caught == 1);
}

static void invocations(Receiver* receiver) {
  NSInvocation* one = invocation_of(receiver, @selector(weighed:and:and:and:and:and:and:and:and:and:and:and:));
  CHECK(one.methodSignature.numberOfArguments == 14 && one.methodSignature.methodReturnLength == sizeof(double));
  char a = -1;
  float b = 2.5f;
  MTLSize size = {3, 4, 5};
  Two two = {6, 7};
  Mixed mixed = {8, 9};
  short c = -10;
  double d = 11;
  long double e = 12;
  Small small = {13, 14, {15, 16}};
  Either either = {.number = 17};
  BOOL yes = YES;
  id object = @"object";
  void* values[] = {&a, &b, &size, &two, &mixed, &c, &d, &e, &small, &either, &yes, &object};
  for (int i = 0; i < 12; ++i) [one setArgument:values[i] atIndex:i + 2];
  [one invoke];
  double result = 0;
  [one getReturnValue:&result];
  CHECK(result == 18.5);

  one = invocation_of(receiver, @selector(size:plus:));
  NSUInteger more = 100;
  [one setArgument:&size atIndex:2];
  [one setArgument:&more atIndex:3];
  [one invoke];
  [one getReturnValue:&size];
  CHECK(size.width == 103 && size.height == 104 && size.depth == 105);
  one = invocation_of(receiver, @selector(small));
  [one invoke];
  [one getReturnValue:&small];
  CHECK(small.one == 5 && small.values[0] == 7);
  one = invocation_of(receiver, @selector(wide:));
  [one setArgument:&e atIndex:2];
  [one invoke];
  [one getReturnValue:&e];
  CHECK(e == 6);

  // Texts and objects of its own.
  one = invocation_of(receiver, @selector(text:));
  char text[] = "text";
  char* place = text;
  [one setArgument:&place atIndex:2];
  [one retainArguments];
  CHECK(one.argumentsRetained);
  text[0] = 'n';
  [one invoke];
  [one getReturnValue:&place];
  CHECK(strcmp(place, "text") == 0);
  [one invokeWithTarget:nil];
  [one getReturnValue:&place];
  CHECK(place == NULL);

  int caught = 0;
  @try {
    [one setArgument:&place atIndex:3];
  } @catch (NSException* exception) {
    CHECK([exception.name isEqual:NSInvalidArgumentException] &&
          [exception.reason containsString:@"index (3) out of bounds [-1, 2]"]);
    ++caught;
  }
  for (NSString* types in @[ @"v@:b3", @"v@:{opaque}", @"jf@:", @"v", @"v@:!" ]) {
    @try {
      [NSInvocation invocationWithMethodSignature:[NSMethodSignature signatureWithObjCTypes:types.UTF8String]];
    } @catch (NSException* exception) {
      CHECK([exception.name isEqual:NSInvalidArgumentException]);
      ++caught;
    }
  }
  CHECK(caught == 6);
}

static void signatures(void) {
  NSMethodSignature* one = [NSMethodSignature signatureWithObjCTypes:"v32@0:8r^{?=\"x\"i\"y\"[4f]}16@?24"];
  CHECK(one.numberOfArguments == 4 && strcmp([one getArgumentTypeAtIndex:2], "^{?=\"x\"i\"y\"[4f]}") == 0);
  CHECK(strcmp([one getArgumentTypeAtIndex:3], "@?") == 0 && strcmp(one.methodReturnType, "v") == 0);
  CHECK([one isEqual:[NSMethodSignature signatureWithObjCTypes:"v@:^{?=\"x\"i\"y\"[4f]}@?"]]);
  CHECK([Receiver instanceMethodSignatureForSelector:@selector(two)].methodReturnLength == sizeof(Two));
  CHECK([Receiver instanceMethodSignatureForSelector:@selector(lowercaseString)] == nil);
  CHECK([Receiver methodSignatureForSelector:@selector(alloc)].numberOfArguments == 2);
}

// As hashcat asks for what older systems do not have.
static void facts_of_a_device(void) {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  NSInvocation* one = invocation_of(device, NSSelectorFromString(@"isHeadless"));
  struct {
    BOOL answer;
    char rest[7];
  } place = {NO, {1, 2, 3, 4, 5, 6, 7}};
  CHECK(strcmp(one.methodSignature.methodReturnType, @encode(BOOL)) == 0);
  [one invoke];
  [one getReturnValue:&place];
  CHECK((place.answer == YES || place.answer == NO) && place.rest[0] == 1 && place.rest[6] == 7);
  one = invocation_of(device, NSSelectorFromString(@"recommendedMaxWorkingSetSize"));
  uint64_t size = 0;
  [one invoke];
  [one getReturnValue:&size];
  CHECK(size == device.recommendedMaxWorkingSetSize && size != 0);
  one = invocation_of(device, NSSelectorFromString(@"supportsFamily:"));
  MTLGPUFamily family = MTLGPUFamilyApple7;
  [one setArgument:&family atIndex:2];
  [one invoke];
  [one getReturnValue:&place];
  CHECK(place.answer == YES && place.rest[0] == 1);
  CHECK([(NSObject*)device methodSignatureForSelector:NSSelectorFromString(@"isThere")] == nil);
  [device release];
}

int main(void) {
  @autoreleasepool {
    Receiver* receiver = [[Receiver alloc] init];
    call_all(receiver);
    Proxy* proxy = [Proxy alloc];
    proxy->target = receiver;
    CHECK([proxy isProxy] && ![receiver isProxy] && [proxy isKindOfClass:[Receiver class]]);
    CHECK([proxy respondsToSelector:@selector(two)] && [proxy class] == [Proxy class]);
    proxy->forwarded = 0;
    call_all((Receiver*)proxy);
    CHECK(proxy->forwarded == 13);
    Redirecting* redirecting = [[Redirecting alloc] init];
    redirecting->target = receiver;
    call_all((Receiver*)redirecting);
    redirecting->target = proxy;
    call_all((Receiver*)redirecting);
    CHECK(proxy->forwarded == 26);
    invocations(receiver);
    invocations((Receiver*)redirecting->target);
    CHECK([[receiver performSelector:@selector(description)] isEqual:[receiver description]]);
    signatures();
    facts_of_a_device();
    [redirecting release];
    [proxy release];
    [receiver release];
  }
  puts("invocations");
  return 0;
}
