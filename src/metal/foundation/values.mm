// NSValue and NSNumber.
#include <cstring>
#include <functional>
#include <string>
#include <variant>

#include "metal/foundation/foundation.h"

namespace {

using Number = std::variant<long long, unsigned long long, double>;

}  // namespace

@implementation NSValue {
 @public
  std::string bytes, type;
}
+ (NSValue*)valueWithBytes:(const void*)bytes objCType:(const char*)type {
  NSValue* value = [[[NSValue alloc] init] autorelease];
  NSUInteger size = 0;
  // The sizes of what programs put in: pointers, numbers, and structures of words.
  for (const char* at = type; *at; ++at) {
    if (std::string_view("cCB").find(*at) != std::string_view::npos) size += 1;
    if (std::string_view("sS").find(*at) != std::string_view::npos) size += 2;
    if (std::string_view("iIf").find(*at) != std::string_view::npos) size += 4;
    if (std::string_view("qQlLd^@*#:").find(*at) != std::string_view::npos) size += 8;
    if (*at == '{') at = std::strchr(at, '=') ? std::strchr(at, '=') : at;
    if (*at == '^') break;
  }
  value->bytes.assign(static_cast<const char*>(bytes), size);
  value->type = type;
  return value;
}
+ (NSValue*)valueWithPointer:(const void*)pointer {
  return [self valueWithBytes:&pointer objCType:"^v"];
}
+ (NSValue*)valueWithRange:(NSRange)range {
  return [self valueWithBytes:&range objCType:"{_NSRange=QQ}"];
}
- (void)getValue:(void*)to {
  std::memcpy(to, bytes.data(), bytes.size());
}
- (void)getValue:(void*)to size:(NSUInteger)size {
  std::memcpy(to, bytes.data(), MIN(size, bytes.size()));
}
- (void*)pointerValue {
  void* pointer = nullptr;
  [self getValue:&pointer size:sizeof(pointer)];
  return pointer;
}
- (NSRange)rangeValue {
  NSRange range = {};
  [self getValue:&range size:sizeof(range)];
  return range;
}
- (const char*)objCType {
  return type.c_str();
}
- (BOOL)isEqual:(id)other {
  return self == other ||
         ([other isKindOfClass:[NSValue class]] && bytes == ((NSValue*)other)->bytes && type == ((NSValue*)other)->type);
}
- (NSUInteger)hash {
  return std::hash<std::string>()(bytes);
}
@end

@implementation NSNumber {
 @public
  Number value;
  const char* kind;
}

template <typename T>
static NSNumber* number(T given, const char* kind) {
  NSNumber* one = [[[NSNumber alloc] init] autorelease];
  if constexpr (std::is_floating_point_v<T>) {
    one->value = static_cast<double>(given);
  } else if constexpr (std::is_signed_v<T>) {
    one->value = static_cast<long long>(given);
  } else {
    one->value = static_cast<unsigned long long>(given);
  }
  one->kind = kind;
  return one;
}

template <typename T>
static T as(NSNumber* number) {
  return std::visit([](auto held) { return static_cast<T>(held); }, number->value);
}

+ (NSNumber*)numberWithBool:(BOOL)value {
  return number(static_cast<int>(static_cast<bool>(value)), "c");
}
+ (NSNumber*)numberWithChar:(char)value {
  return number(value, "c");
}
+ (NSNumber*)numberWithUnsignedChar:(unsigned char)value {
  return number(value, "C");
}
+ (NSNumber*)numberWithShort:(short)value {
  return number(value, "s");
}
+ (NSNumber*)numberWithUnsignedShort:(unsigned short)value {
  return number(value, "S");
}
+ (NSNumber*)numberWithInt:(int)value {
  return number(value, "i");
}
+ (NSNumber*)numberWithUnsignedInt:(unsigned int)value {
  return number(value, "I");
}
+ (NSNumber*)numberWithLong:(long)value {
  return number(value, "q");
}
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value {
  return number(value, "Q");
}
+ (NSNumber*)numberWithLongLong:(long long)value {
  return number(value, "q");
}
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value {
  return number(value, "Q");
}
+ (NSNumber*)numberWithInteger:(NSInteger)value {
  return number(value, "q");
}
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value {
  return number(value, "Q");
}
+ (NSNumber*)numberWithFloat:(float)value {
  return number(value, "f");
}
+ (NSNumber*)numberWithDouble:(double)value {
  return number(value, "d");
}
- (BOOL)boolValue {
  return as<bool>(self);
}
- (char)charValue {
  return as<char>(self);
}
- (unsigned char)unsignedCharValue {
  return as<unsigned char>(self);
}
- (short)shortValue {
  return as<short>(self);
}
- (unsigned short)unsignedShortValue {
  return as<unsigned short>(self);
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
- (const char*)objCType {
  return kind;
}
- (void)getValue:(void*)to {
  switch (*kind) {
    case 'c':
    case 'C':
      return (void)(*static_cast<char*>(to) = as<char>(self));
    case 's':
    case 'S':
      return (void)(*static_cast<short*>(to) = as<short>(self));
    case 'i':
    case 'I':
      return (void)(*static_cast<int*>(to) = as<int>(self));
    case 'f':
      return (void)(*static_cast<float*>(to) = as<float>(self));
    case 'd':
      return (void)(*static_cast<double*>(to) = as<double>(self));
    default:
      *static_cast<long long*>(to) = as<long long>(self);
  }
}
- (BOOL)isEqualToNumber:(NSNumber*)other {
  return other && as<double>(self) == as<double>(other) && as<long long>(self) == as<long long>(other);
}
- (NSComparisonResult)compare:(NSNumber*)other {
  if ([self isEqualToNumber:other]) return NSOrderedSame;
  return as<double>(self) < as<double>(other) ? NSOrderedAscending : NSOrderedDescending;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other]);
}
- (NSUInteger)hash {
  return std::hash<double>()(as<double>(self));
}
- (NSString*)stringValue {
  if (std::holds_alternative<long long>(value)) return [NSString stringWithFormat:@"%lld", std::get<long long>(value)];
  if (std::holds_alternative<double>(value)) return [NSString stringWithFormat:@"%g", std::get<double>(value)];
  return [NSString stringWithFormat:@"%llu", std::get<unsigned long long>(value)];
}
- (NSString*)description {
  return [self stringValue];
}
@end
