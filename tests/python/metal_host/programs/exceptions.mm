// Exceptions of Objective-C and of C++ in each other's frames, with automatic counting.
#import <Foundation/Foundation.h>
#import <objc/runtime.h>

#include <dlfcn.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "checking.h"

static int alive = 0, cleaned = 0;

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
};

struct Base {
  virtual ~Base() = default;
  int base = 1;
};
struct Second {
  virtual ~Second() = default;
  int second = 2;
};
struct Both : Base, Second {};

@interface Narrow : NSException
@end
@implementation Narrow
@end

@interface Kept : NSObject
@end
@implementation Kept {
  Counted counted;
}
@end

static NSException* named(NSString* name) {
  return [NSException exceptionWithName:name reason:@"because" userInfo:nil];
}
static void throw_it(id object) { @throw object; }
static void throw_number(int number) { throw number; }

// Destructors and counted variables on the way, in frames that catch something else.
static void through_frames(const std::function<void()>& work) {
  Counted one;
  Kept* kept = [Kept new];
  std::vector<Counted> several(3);
  @try {
    Counted inner;
    try {
      Kept* more __attribute__((unused)) = [Kept new];
      Counted innermost;
      work();
    } catch (const std::runtime_error&) {
      CHECK(false);
    }
  } @catch (Narrow* narrow) {
    CHECK(false);
  } @finally {
    CHECK(alive >= 5 && kept != nil);
    ++cleaned;
  }
}

static void objective_c_through_cxx() {
  int caught = 0;
  @try {
    through_frames([] { throw_it(named(@"passing")); });
  } @catch (NSException* one) {
    CHECK([one.name isEqual:@"passing"]);
    ++caught;
  }
  CHECK(caught == 1 && alive == 0 && cleaned == 1 && std::uncaught_exceptions() == 0);
}

// On a thread of its own: what `@catch (...)` swallows counts as uncaught ever after.
static void cxx_through_objective_c() {
  int caught = 0;
  try {
    through_frames([] { throw_number(7); });
  } catch (int number) {
    caught += number;
  }
  CHECK(caught == 7 && alive == 0 && cleaned == 2 && std::uncaught_exceptions() == 0);

  @try {
    try {
      throw std::out_of_range("far");
    } catch (const std::logic_error& error) {
      CHECK(std::string(error.what()) == "far");
      throw;
    }
  } @catch (id one) {
    CHECK(false);
  } @catch (...) {
    ++caught;
  }
  CHECK(caught == 8);
}

// One landing pad for both languages: what handlers get is theirs.
static int taken_by(const std::function<void()>& work) {
  @try {
    try {
      work();
    } catch (const Second& error) {
      CHECK(error.second == 2);
      return 1;
    } catch (const std::exception& error) {
      return 2;
    } catch (const char* text) {
      CHECK(std::string(text) == "text");
      return 3;
    }
  } @catch (Narrow* one) {
    CHECK([one.name isEqual:@"narrow"]);
    return 4;
  } @catch (NSException* one) {
    return 5;
  } @catch (id one) {
    return 6;
  }
  return 0;
}

static void handlers() {
  CHECK(taken_by([] { throw Both(); }) == 1);
  CHECK(taken_by([] { throw std::runtime_error("error"); }) == 2);
  CHECK(taken_by([] { throw "text"; }) == 3);
  CHECK(taken_by([] { @throw [Narrow exceptionWithName:@"narrow" reason:nil userInfo:nil]; }) == 4);
  CHECK(taken_by([] { [NSException raise:NSGenericException format:@"%d", 1]; }) == 5);
  CHECK(taken_by([] { throw_it(@"literal"); }) == 6);
  CHECK(taken_by([] { throw @"as in C++"; }) == 6);
  CHECK(taken_by([] {}) == 0);
  CHECK(std::uncaught_exceptions() == 0);
}

static void everything_catches() {
  int caught = 0;
  try {
    throw std::runtime_error("first");
  } catch (const std::runtime_error&) {
    // In a handler of another one.
    try {
      throw_it(@"second");
    } catch (const std::exception&) {
      CHECK(false);
    } catch (...) {
      ++caught;
      CHECK(std::current_exception() != nullptr);
    }
  } @
  try {
    try {
      throw_it(named(@"again"));
    } catch (...) {
      ++caught;
      throw;
    }
  } @catch (NSException* one) {
    CHECK([one.name isEqual:@"again"]);
    ++caught;
  }
  CHECK(caught == 3 && std::uncaught_exceptions() == 0);
}

// std::exception_ptr keeps the object, whatever pools there are.
static void pointers() {
  std::exception_ptr kept;
  std::thread thread([&] {
    @autoreleasepool {
      try {
        throw_it([NSException exceptionWithName:@"elsewhere" reason:nil userInfo:@{@"kept" : [Kept new]}]);
      } catch (...) {
        kept = std::current_exception();
      }
    }
  });
  thread.join();
  CHECK(alive == 1);
  int caught = 0;
  @autoreleasepool {
    for (int i = 0; i < 2; ++i) {
      @try {
        std::rethrow_exception(kept);
      } @catch (NSException* one) {
        CHECK([one.name isEqual:@"elsewhere"]);
        ++caught;
      }
    }
  }
  CHECK(caught == 2 && alive == 1);
  kept = nullptr;
  CHECK(alive == 0);
}

static void foundation_through_cxx() {
  int caught = 0;
  try {
    Counted one;
    (void)@[ @1 ][1];
  } catch (...) {
    ++caught;
  }
  dispatch_queue_t queue = dispatch_queue_create("one", nullptr);
  for (int i = 0; i < 2; ++i) {
    try {
      dispatch_sync(queue, ^{
        Counted one;
        if (i == 0) throw_number(1);
        throw_it(@"in a block");
      });
    } catch (int) {
      ++caught;
    } catch (...) {
      ++caught;
    }
  }
  CHECK(caught == 3 && alive == 0);
}

// Classes and frames of a library that is loaded late.
static void across_libraries(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library != nullptr);
  auto throws = reinterpret_cast<void (*)(bool)>(dlsym(library, "throw_own"));
  auto catches = reinterpret_cast<int (*)(void (*)(void))>(dlsym(library, "caught_by_library"));
  int caught = 0;
  @try {
    throws(true);
  } @catch (Narrow* one) {
    CHECK(false);
  } @catch (NSException* one) {
    CHECK([NSStringFromClass([one class]) isEqual:@"ClassOfLibrary"]);
    ++caught;
  }
  CHECK(caught == 1);
  CHECK(catches([] { throw_it(named(@"from here")); }) == 1);
  CHECK(catches([] { throw_it(@"from here"); }) == 2);
  try {
    CHECK(catches([] { throw_number(3); }) == 0);
  } catch (int number) {
    caught += number;
  }
  CHECK(caught == 4);
}

int main(int, char** arguments) {
  @autoreleasepool {
    objective_c_through_cxx();
    std::thread(cxx_through_objective_c).join();
    handlers();
    everything_catches();
    pointers();
    foundation_through_cxx();
    across_libraries(arguments[1]);
  }
  CHECK(alive == 0);
  puts("exceptions");
}
