// NSException, what becomes of one that nobody catches, and assertions.
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#import <objc/objc-exception.h>
#import <objc/runtime.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "metal/foundation/foundation.h"
#include "metalloid/metal/host.h"

using metalloid::objective_c::describe;
using metalloid::objective_c::formatted;
using metalloid::objective_c::string_of;
using metalloid::objective_c::text_of;

NSExceptionName const NSGenericException = @"NSGenericException";
NSExceptionName const NSRangeException = @"NSRangeException";
NSExceptionName const NSInvalidArgumentException = @"NSInvalidArgumentException";
NSExceptionName const NSInternalInconsistencyException = @"NSInternalInconsistencyException";
NSExceptionName const NSMallocException = @"NSMallocException";
NSExceptionName const NSObjectInaccessibleException = @"NSObjectInaccessibleException";
NSExceptionName const NSObjectNotAvailableException = @"NSObjectNotAvailableException";
NSExceptionName const NSDestinationInvalidException = @"NSDestinationInvalidException";
NSExceptionName const NSInvalidReceivePortException = @"NSInvalidReceivePortException";
NSExceptionName const NSUndefinedKeyException = @"NSUnknownKeyException";

namespace {

// "2   program    0x000055d0c3a1f210 main + 32"
std::string symbol_of(std::size_t number, void* address) {
  Dl_info info = {};
  const bool is_known = dladdr(address, &info) != 0 && info.dli_fname;
  const std::string library = is_known ? std::filesystem::path(info.dli_fname).filename().string() : "???";
  const bool is_named = is_known && info.dli_sname;
  const void* from = is_named ? info.dli_saddr : info.dli_fbase;
  return fmt::format("{:<4}{:<35} 0x{:016x} {} + {}", number, library, reinterpret_cast<std::uintptr_t>(address),
                     is_named   ? info.dli_sname
                     : is_known ? library.c_str()
                                : "0x0",
                     reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(from));
}

std::atomic<NSUncaughtExceptionHandler*> uncaught_handler = nullptr;

id note_where(id object);
void say_and_end(id object);

}  // namespace

@implementation NSException {
 @public
  NSExceptionName name;
  NSString* reason;
  NSDictionary* info;
  std::vector<void*> addresses;
}
@synthesize name = name, reason = reason, userInfo = info;
+ (void)load {
  objc_setExceptionPreprocessor(&note_where);
  objc_setUncaughtExceptionHandler(&say_and_end);
  metalloid::objective_c::set_exception_maker([](const char* its_name, const std::string& its_reason) {
    return (__bridge void*)[NSException exceptionWithName:string_of(its_name)
                                                   reason:string_of(its_reason)
                                                 userInfo:nil];
  });
}
+ (NSException*)exceptionWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info {
  return [[[self alloc] initWithName:name reason:reason userInfo:info] autorelease];
}
+ (void)raise:(NSExceptionName)name format:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  [self raise:name format:format arguments:arguments];
}
+ (void)raise:(NSExceptionName)name format:(NSString*)format arguments:(va_list)arguments {
  NSString* reason = string_of(formatted(format, arguments));
  va_end(arguments);
  [[self exceptionWithName:name reason:reason userInfo:nil] raise];
}
- (instancetype)initWithName:(NSExceptionName)its_name reason:(NSString*)its_reason userInfo:(NSDictionary*)its_info {
  name = [its_name copy];
  reason = [its_reason copy];
  info = [its_info copy];
  return self;
}
- (void)dealloc {
  [name release];
  [reason release];
  [info release];
  [super dealloc];
}
- (void)raise {
  objc_exception_throw(self);
}
- (NSArray<NSNumber*>*)callStackReturnAddresses {
  NSMutableArray* all = [NSMutableArray array];
  for (void* one : addresses) [all addObject:[NSNumber numberWithUnsignedLong:reinterpret_cast<unsigned long>(one)]];
  return all;
}
- (NSArray<NSString*>*)callStackSymbols {
  NSMutableArray* all = [NSMutableArray array];
  for (void* one : addresses) [all addObject:string_of(symbol_of([all count], one))];
  return all;
}
- (NSString*)description {
  return reason ? reason : name;
}
@end

namespace {

id note_where(id object) {
  if (!object || ![object isKindOfClass:[NSException class]]) return object;
  NSException* exception = (NSException*)object;
  if (!exception->addresses.empty()) return object;
  std::array<void*, 128> found;
  constexpr int own = 2;  // this function, and objc_exception_throw
  const int count = backtrace(found.data(), found.size());
  if (count > own) exception->addresses.assign(found.begin() + own, found.begin() + count);
  return object;
}

void say_and_end(id object) {
  std::string said = "*** Terminating app due to uncaught exception ";
  std::string kind = object ? class_getName(object_getClass(object)) : "nil";
  if ([object isKindOfClass:[NSException class]]) {
    NSException* exception = (NSException*)object;
    if (NSUncaughtExceptionHandler* handler = uncaught_handler) handler(exception);
    said += fmt::format("'{}', reason: '{}'\n*** First throw call stack:\n(\n", describe([exception name]),
                        describe([exception reason]));
    for (std::size_t i = 0; i < exception->addresses.size(); ++i)
      said += "\t" + symbol_of(i, exception->addresses[i]) + "\n";
    said += ")\n";
  } else {
    said += fmt::format("of class '{}': {}\n", kind, describe(object));
  }
  std::fprintf(stderr, "%sterminating due to uncaught exception of type %s\n", said.c_str(), kind.c_str());
}

}  // namespace

NSUncaughtExceptionHandler* NSGetUncaughtExceptionHandler(void) { return uncaught_handler; }
void NSSetUncaughtExceptionHandler(NSUncaughtExceptionHandler* handler) { uncaught_handler = handler; }

namespace metalloid::objective_c {

void raise_invalid_argument(const std::string& reason) {
  raise_exception(metal::Fault::value, "NSInvalidArgumentException", reason);
}
void raise_out_of_range(const std::string& reason) { raise_exception(metal::Fault::index, "NSRangeException", reason); }

}  // namespace metalloid::objective_c

namespace {

[[noreturn]] void fail_assertion(const std::string& where, NSString* file, NSInteger line, const std::string& reason) {
  std::fprintf(stderr, "*** Assertion failure in %s, %s:%ld\n", where.c_str(),
               std::filesystem::path(text_of(file)).filename().c_str(), line);
  metalloid::objective_c::raise_exception(metalloid::metal::Fault::misuse, "NSInternalInconsistencyException", reason);
}

}  // namespace

@implementation NSAssertionHandler
+ (NSAssertionHandler*)currentHandler {
  static NSAssertionHandler* const one = [[NSAssertionHandler alloc] init];
  return one;
}
- (void)handleFailureInMethod:(SEL)selector
                       object:(id)object
                         file:(NSString*)file
                   lineNumber:(NSInteger)line
                  description:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string reason = formatted(format, arguments);
  va_end(arguments);
  const Class one = object_getClass(object);
  fail_assertion(
      fmt::format("{}[{} {}]", class_isMetaClass(one) ? '+' : '-', class_getName(one), sel_getName(selector)), file,
      line, reason);
}
- (void)handleFailureInFunction:(NSString*)function
                           file:(NSString*)file
                     lineNumber:(NSInteger)line
                    description:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string reason = formatted(format, arguments);
  va_end(arguments);
  fail_assertion(std::string(text_of(function)), file, line, reason);
}
@end
