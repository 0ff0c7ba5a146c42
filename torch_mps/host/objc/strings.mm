// NSString and its literals, NSNumber, NSData, NSError, NSURL.
#import <Foundation/Foundation.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/objc/foundation.h"

namespace {

using metalloid::objective_c::describe;

// "%@" is an object's description; all others are C's.
std::string formatted(NSString* format, va_list arguments) {
  const std::string text = [format UTF8String];
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '%') {
      result += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && std::string_view("0123456789.+- #lhqjzt").find(text[end]) != std::string_view::npos)
      ++end;
    if (end == text.size()) break;
    const std::string one = text.substr(at, end - at + 1);
    const char kind = text[end];
    char buffer[512];
    const auto put = [&](auto value) {
      const int length = std::snprintf(buffer, sizeof(buffer), one.c_str(), value);
      if (length < 0) return;
      if (static_cast<size_t>(length) < sizeof(buffer)) {
        result += buffer;
      } else {
        std::vector<char> large(static_cast<size_t>(length) + 1);
        std::snprintf(large.data(), large.size(), one.c_str(), value);
        result += large.data();
      }
    };
    const bool is_long = one.find_first_of("lqjzt") != std::string::npos;
    if (kind == '%') {
      result += '%';
    } else if (kind == '@') {
      result += describe(va_arg(arguments, id));
    } else if (std::string_view("diuxXoc").find(kind) != std::string_view::npos) {
      is_long ? put(va_arg(arguments, long)) : put(va_arg(arguments, int));
    } else if (std::string_view("fFeEgGaA").find(kind) != std::string_view::npos) {
      put(va_arg(arguments, double));
    } else if (kind == 's') {
      put(va_arg(arguments, const char*));
    } else if (kind == 'p') {
      put(va_arg(arguments, void*));
    }
    at = end + 1;
  }
  return result;
}

}  // namespace

std::string metalloid::objective_c::describe(id object) {
  return object ? std::string([[object description] UTF8String]) : "(null)";
}

@interface MetalloidString : NSString {
  std::string* text;
}
- (instancetype)initWithText:(std::string)value;
@end

NSString* metalloid::objective_c::string_of(const std::string& text) {
  return [[[MetalloidString alloc] initWithText:text] autorelease];
}

@implementation NSString
+ (instancetype)alloc {
  return self == (id)[NSString class] ? (id)[MetalloidString alloc] : [super alloc];
}
+ (instancetype)string {
  return metalloid::objective_c::string_of("");
}
+ (instancetype)stringWithUTF8String:(const char*)text {
  return metalloid::objective_c::string_of(text);
}
+ (instancetype)stringWithCString:(const char*)text encoding:(NSStringEncoding)encoding {
  return metalloid::objective_c::string_of(text);
}
+ (instancetype)stringWithString:(NSString*)string {
  return metalloid::objective_c::string_of([string UTF8String]);
}
+ (instancetype)stringWithFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  return metalloid::objective_c::string_of(text);
}
- (instancetype)initWithUTF8String:(const char*)text {
  return [(MetalloidString*)self initWithText:text];
}
- (instancetype)initWithCString:(const char*)text encoding:(NSStringEncoding)encoding {
  return [(MetalloidString*)self initWithText:text];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding {
  return [(MetalloidString*)self initWithText:std::string(static_cast<const char*>(bytes), length)];
}
- (instancetype)initWithFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  return [(MetalloidString*)self initWithText:text];
}
- (const char*)UTF8String {
  return "";
}
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding {
  return [self UTF8String];
}
- (NSUInteger)length {
  // UTF-16 units.
  NSUInteger units = 0;
  for (const char* at = [self UTF8String]; *at; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return strlen([self UTF8String]);
}
- (BOOL)isEqualToString:(NSString*)other {
  return other && strcmp([self UTF8String], [other UTF8String]) == 0;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSString class]] && [self isEqualToString:other]);
}
- (NSUInteger)hash {
  return std::hash<std::string_view>()([self UTF8String]);
}
- (BOOL)hasPrefix:(NSString*)prefix {
  return std::string_view([self UTF8String]).starts_with([prefix UTF8String]);
}
- (BOOL)hasSuffix:(NSString*)suffix {
  return std::string_view([self UTF8String]).ends_with([suffix UTF8String]);
}
- (NSString*)stringByAppendingString:(NSString*)other {
  return metalloid::objective_c::string_of(std::string([self UTF8String]) + [other UTF8String]);
}
- (NSString*)description {
  return self;
}
@end

@implementation MetalloidString
- (instancetype)initWithText:(std::string)value {
  text = new std::string(std::move(value));
  return self;
}
- (const char*)UTF8String {
  return text ? text->c_str() : "";
}
- (void)dealloc {
  delete text;
  [super dealloc];
}
@end

// Literals answer as strings do: their methods come from NSString, their memory is the compiler's.
@interface NSConstantStringBase (AsObject) <NSObject>
@end
@implementation NSConstantStringBase
- (instancetype)retain {
  return self;
}
- (void)release {
}
- (instancetype)autorelease {
  return self;
}
- (NSUInteger)retainCount {
  return NSUIntegerMax;
}
- (instancetype)self {
  return self;
}
- (id)copy {
  return self;
}
- (BOOL)isKindOfClass:(Class)kind {
  return kind == [NSString class] || kind == [NSObject class];
}
- (Class)class {
  return [NSString class];
}
- (BOOL)respondsToSelector:(SEL)selector {
  return metalloid::objective_c::responds(self, selector);
}
@end
@implementation NSConstantString
- (const char*)UTF8String {
  return text;
}
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding {
  return text;
}
- (NSString*)itself {
  return metalloid::objective_c::string_of(std::string(text, bytes));
}
- (NSUInteger)length {
  return [[self itself] length];
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return bytes;
}
- (BOOL)isEqualToString:(NSString*)other {
  return other && strcmp(text, [other UTF8String]) == 0;
}
- (BOOL)isEqual:(id)other {
  return (id)self == other || ([other isKindOfClass:[NSString class]] && [self isEqualToString:other]);
}
- (NSUInteger)hash {
  return std::hash<std::string_view>()(text);
}
- (BOOL)hasPrefix:(NSString*)prefix {
  return std::string_view(text).starts_with([prefix UTF8String]);
}
- (BOOL)hasSuffix:(NSString*)suffix {
  return std::string_view(text).ends_with([suffix UTF8String]);
}
- (NSString*)stringByAppendingString:(NSString*)other {
  return [[self itself] stringByAppendingString:other];
}
- (NSString*)description {
  return (NSString*)self;
}
@end

@implementation NSValue
@end

@interface MetalloidNumber : NSNumber {
 @public
  metalloid::objective_c::NumberKind holds;
  union {
    long long i;
    unsigned long long u;
    double d;
  } value;
}
@end
@implementation MetalloidNumber
@end

namespace {

MetalloidNumber* number(long long value) {
  MetalloidNumber* one = [[[MetalloidNumber alloc] init] autorelease];
  one->holds = metalloid::objective_c::NumberKind::integer;
  one->value.i = value;
  return one;
}
MetalloidNumber* natural_number(unsigned long long value) {
  MetalloidNumber* one = [[[MetalloidNumber alloc] init] autorelease];
  one->holds = metalloid::objective_c::NumberKind::natural;
  one->value.u = value;
  return one;
}
MetalloidNumber* real_number(double value) {
  MetalloidNumber* one = [[[MetalloidNumber alloc] init] autorelease];
  one->holds = metalloid::objective_c::NumberKind::real;
  one->value.d = value;
  return one;
}

template <typename T>
T as(NSNumber* number) {
  auto* one = (MetalloidNumber*)number;
  switch (one->holds) {
    case metalloid::objective_c::NumberKind::integer:
      return static_cast<T>(one->value.i);
    case metalloid::objective_c::NumberKind::natural:
      return static_cast<T>(one->value.u);
    case metalloid::objective_c::NumberKind::real:
      return static_cast<T>(one->value.d);
  }
  return T();
}

}  // namespace

@implementation NSNumber
+ (NSNumber*)numberWithBool:(BOOL)value {
  return number(value);
}
+ (NSNumber*)numberWithChar:(char)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedChar:(unsigned char)value {
  return number(value);
}
+ (NSNumber*)numberWithShort:(short)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedShort:(unsigned short)value {
  return number(value);
}
+ (NSNumber*)numberWithInt:(int)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedInt:(unsigned int)value {
  return natural_number(value);
}
+ (NSNumber*)numberWithLong:(long)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value {
  return natural_number(value);
}
+ (NSNumber*)numberWithLongLong:(long long)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value {
  return natural_number(value);
}
+ (NSNumber*)numberWithInteger:(NSInteger)value {
  return number(value);
}
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value {
  return natural_number(value);
}
+ (NSNumber*)numberWithFloat:(float)value {
  return real_number(value);
}
+ (NSNumber*)numberWithDouble:(double)value {
  return real_number(value);
}
- (BOOL)boolValue {
  return as<BOOL>(self);
}
- (char)charValue {
  return as<char>(self);
}
- (int)intValue {
  return as<int>(self);
}
- (unsigned int)unsignedIntValue {
  return as<unsigned int>(self);
}
- (long)longValue {
  return as<long>(self);
}
- (unsigned long)unsignedLongValue {
  return as<unsigned long>(self);
}
- (long long)longLongValue {
  return as<long long>(self);
}
- (unsigned long long)unsignedLongLongValue {
  return as<unsigned long long>(self);
}
- (NSInteger)integerValue {
  return as<NSInteger>(self);
}
- (NSUInteger)unsignedIntegerValue {
  return as<NSUInteger>(self);
}
- (float)floatValue {
  return as<float>(self);
}
- (double)doubleValue {
  return as<double>(self);
}
- (BOOL)isEqualToNumber:(NSNumber*)other {
  return other && ([self doubleValue] == [other doubleValue] && [self longLongValue] == [other longLongValue]);
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other]);
}
- (NSUInteger)hash {
  return std::hash<double>()([self doubleValue]);
}
- (NSString*)stringValue {
  switch (((MetalloidNumber*)self)->holds) {
    case metalloid::objective_c::NumberKind::integer:
      return [NSString stringWithFormat:@"%lld", [self longLongValue]];
    case metalloid::objective_c::NumberKind::natural:
      return [NSString stringWithFormat:@"%llu", [self unsignedLongLongValue]];
    case metalloid::objective_c::NumberKind::real:
      break;
  }
  return [NSString stringWithFormat:@"%g", [self doubleValue]];
}
- (NSString*)description {
  return [self stringValue];
}
@end

@implementation NSData
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length {
  return [[[self alloc] initWithBytes:bytes length:length] autorelease];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length {
  const auto* first = static_cast<const char*>(bytes);
  contents = new std::string(first, first + length);
  return self;
}
- (const void*)bytes {
  return static_cast<std::string*>(contents)->data();
}
- (NSUInteger)length {
  return static_cast<std::string*>(contents)->size();
}
- (void)dealloc {
  delete static_cast<std::string*>(contents);
  [super dealloc];
}
@end

@interface NSError (Made)
- (instancetype)initWithMessage:(NSString*)message;
@end
@implementation NSError
- (instancetype)initWithMessage:(NSString*)message {
  text = [message retain];
  return self;
}
- (NSString*)localizedDescription {
  return text;
}
- (NSString*)description {
  return text;
}
- (NSInteger)code {
  return 1;
}
- (NSString*)domain {
  return @"MTLLibraryErrorDomain";
}
- (void)dealloc {
  [text release];
  [super dealloc];
}
@end

NSError* metalloid::objective_c::error_of(const std::string& message) {
  return [[[NSError alloc] initWithMessage:string_of(message)] autorelease];
}

@implementation NSURL
+ (instancetype)fileURLWithPath:(NSString*)path {
  NSURL* url = [[[self alloc] init] autorelease];
  url->place = [path retain];
  return url;
}
- (NSString*)path {
  return place;
}
- (void)dealloc {
  [place release];
  [super dealloc];
}
@end

void NSLog(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s\n", text.c_str());
}
