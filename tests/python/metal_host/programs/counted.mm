// Objective-C++ with automatic counting: weak references, properties, blocks, C++ in variables.
#import <Metal/Metal.h>
#import <objc/runtime.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"

static int alive = 0;

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

@protocol Named
@property(copy) NSString* name;
@end

@interface Node : NSObject <Named>
@property(strong) Node* next;
@property(weak) Node* parent;
@property(strong, nonatomic) NSArray* list;
@property(copy, nonatomic) NSString* (^say)(NSString*);
@property MTLSize size;  // atomic, in memory
@end
@implementation Node {
  Counted counted;
  std::vector<int> numbers;
  std::string text;
}
@synthesize name = _name;
- (instancetype)initWithName:(NSString*)name {
  if ((self = [super init])) {
    _name = [name copy];
    numbers.assign(100, 1);
    text = "a text that is longer than what fits without memory of its own";
  }
  return self;
}
- (size_t)held {
  return numbers.size() + text.size();
}
@end

static int initialised = 0, loaded = 0;

@interface Leaf : Node
@end
@implementation Leaf {
  std::unique_ptr<int> number;
}
+ (void)load {
  ++loaded;
}
+ (void)initialize {
  if (self == [Leaf class]) ++initialised;
}
- (instancetype)initWithName:(NSString*)name {
  if ((self = [super initWithName:name])) number = std::make_unique<int>(7);
  return self;
}
- (size_t)held {
  return [super held] + static_cast<size_t>(*number);
}
@end

static void references() {
  __weak Node* gone = nil;
  @autoreleasepool {
    Node* root = [[Node alloc] initWithName:@"root"];
    Leaf* leaf = [[Leaf alloc] initWithName:@"leaf"];
    root.next = leaf;
    leaf.parent = root;
    CHECK(alive == 2 && [leaf held] == 162 + 7 && [root held] == 162);
    CHECK(leaf.parent == root);
    gone = root;
    CHECK(gone == root);
    root.size = MTLSizeMake(1, 2, 3);
    CHECK(root.size.height == 2);
    NSMutableString* name = [NSMutableString stringWithString:@"first"];
    root.name = name;
    [name appendString:@" and more"];
    CHECK([root.name isEqualToString:@"first"]);
    Node* __weak of_block = root;
    root.say = ^(NSString* what) {
      return [of_block.name stringByAppendingString:what];
    };
    CHECK([root.say(@"!") isEqual:@"first!"]);
    __weak Node* copy = gone;
    CHECK(copy == root);
  }
  CHECK(gone == nil && alive == 0);
}

// Somebody reads a weak reference while another lets go of the object.
static void races() {
  for (int round = 0; round < 200; ++round) {
    Node* node = [[Node alloc] initWithName:@"raced"];
    __weak Node* weak = node;
    std::thread reader([&] {
      @autoreleasepool {
        for (int i = 0; i < 50; ++i) {
          if (Node* strong = weak) CHECK([strong held] == 162);
        }
      }
    });
    node = nil;
    reader.join();
    CHECK(weak == nil);
  }
  CHECK(alive == 0);
}

static void tables() {
  NSMapTable* table = [NSMapTable weakToStrongObjectsMapTable];
  @autoreleasepool {
    Node* key = [[Node alloc] initWithName:@"key"];
    [table setObject:@1 forKey:key];
    CHECK([[table objectForKey:key] intValue] == 1 && table.count == 1);
  }
  CHECK(table.count == 0 && alive == 0);
  NSDictionary* numbers = @{@"one" : @1, @"two" : @2, @3 : @"three"};
  CHECK([numbers[@"two"] intValue] == 2 && [numbers[@3] isEqual:@"three"] && numbers[@"four"] == nil);
  NSMutableSet* set = [NSMutableSet setWithArray:@[ @"a", @"b", @"a" ]];
  CHECK(set.count == 2 && [set containsObject:@"b"]);
  int sum = 0;
  for (NSNumber* one in @[ @1, @2, @3 ]) sum += one.intValue;
  CHECK(sum == 6);
  NSArray* sorted = [@[ @3, @1, @2 ] sortedArrayUsingSelector:@selector(compare:)];
  CHECK([sorted isEqual:(@[ @1, @2, @3 ])]);
}

static void kernels() {
  id<MTLDevice> device = MTLCreateSystemDefaultDevice();
  __weak id<MTLBuffer> weak = nil;
  @autoreleasepool {
    NSError* error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void broken() { nonsense; }" options:nil error:&error];
    CHECK(library == nil && [error.domain isEqual:MTLLibraryErrorDomain] && error.code == MTLLibraryErrorCompileFailure);
    CHECK([error.localizedDescription containsString:@"use of undeclared identifier 'nonsense'"]);
    id<MTLBuffer> buffer = [device newBufferWithLength:64 options:0];
    weak = buffer;
    CHECK(weak != nil && weak.length == 64);
  }
  CHECK(weak == nil);
}

int main() {
  CHECK(loaded == 1 && initialised == 0);
  @autoreleasepool {
    references();
    tables();
    kernels();
  }
  races();
  CHECK(loaded == 1 && initialised == 1);
  puts("counted");
  return 0;
}
