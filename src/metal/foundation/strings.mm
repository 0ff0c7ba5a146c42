// NSString and its literals.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "metal/foundation/foundation.h"
#include "metal/foundation/utf16.h"

using metalloid::objective_c::formatted;
using metalloid::objective_c::raise_invalid_argument;
using metalloid::objective_c::raise_out_of_range;
using metalloid::objective_c::string_of;
using metalloid::objective_c::text_of;
using metalloid::objective_c::utf16_length;
using metalloid::objective_c::utf8_offset;

namespace {

// What clang lays out for @"...".
struct Literal {
  void* isa;
  const char* text;
  unsigned int bytes;
};

char lower(char one) { return one >= 'A' && one <= 'Z' ? static_cast<char>(one + 32) : one; }
char upper(char one) { return one >= 'a' && one <= 'z' ? static_cast<char>(one - 32) : one; }

NSString* mapped(NSString* string, char (*map)(char)) {
  std::string text(text_of(string));
  std::ranges::transform(text, text.begin(), map);
  return string_of(text);
}

NSComparisonResult order(std::string_view one, std::string_view other) {
  const int result = one.compare(other);
  return result < 0 ? NSOrderedAscending : result > 0 ? NSOrderedDescending : NSOrderedSame;
}

// ISO Latin 1 has one byte where UTF-8 may have two.
std::string utf8_of(const char* bytes, std::size_t length, NSStringEncoding encoding) {
  if (encoding != NSISOLatin1StringEncoding) return std::string(bytes, length);
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte < 0x80) {
      text += bytes[i];
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

// "substringWithRange:"
void check_range(NSString* string, const char* method, NSRange range) {
  const NSUInteger length = [string length];
  if (range.location <= length && range.length <= length - range.location) return;
  raise_out_of_range(fmt::format("*** -[NSString {}]: Range {{{}, {}}} out of bounds; string length {}", method,
                                 range.location, range.length, length));
}

const char* checked(const char* value, const char* method) {
  if (!value) raise_invalid_argument(fmt::format("*** {}: NULL cString", method));
  return value;
}

void check_argument(const char* method, NSString* argument) {
  if (!argument) raise_invalid_argument(fmt::format("*** -[NSString {}]: nil argument", method));
}

}  // namespace

@interface NSString (Made)
- (instancetype)initWithText:(std::string_view)value;
- (std::string&)mutableText;
@end

@implementation NSString {
  std::string text;
}
+ (instancetype)string {
  return string_of("");
}
+ (instancetype)stringWithUTF8String:(const char*)value {
  return [[[self alloc] initWithText:checked(value, "+[NSString stringWithUTF8String:]")] autorelease];
}
+ (instancetype)stringWithCString:(const char*)value encoding:(NSStringEncoding)encoding {
  checked(value, "+[NSString stringWithCString:encoding:]");
  return [[[self alloc] initWithCString:value encoding:encoding] autorelease];
}
+ (instancetype)stringWithString:(NSString*)string {
  return [[[self alloc] initWithText:text_of(string)] autorelease];
}
+ (instancetype)stringWithFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  NSString* result = [[[self alloc] initWithFormat:format arguments:arguments] autorelease];
  va_end(arguments);
  return result;
}
+ (instancetype)stringWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error {
  return [[[self alloc] initWithContentsOfFile:path encoding:encoding error:error] autorelease];
}
+ (instancetype)stringWithContentsOfURL:(NSURL*)url encoding:(NSStringEncoding)encoding error:(NSError**)error {
  return [self stringWithContentsOfFile:[url path] encoding:encoding error:error];
}
- (instancetype)initWithText:(std::string_view)value {
  text = value;
  return self;
}
- (instancetype)initWithUTF8String:(const char*)value {
  return [self initWithText:checked(value, "-[NSString initWithUTF8String:]")];
}
- (instancetype)initWithString:(NSString*)string {
  return [self initWithText:text_of(string)];
}
- (instancetype)initWithCString:(const char*)value encoding:(NSStringEncoding)encoding {
  return [self initWithBytes:value
                      length:strlen(checked(value, "-[NSString initWithCString:encoding:]"))
                    encoding:encoding];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding {
  return [self initWithText:utf8_of(static_cast<const char*>(bytes), length, encoding)];
}
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)frees {
  self = [self initWithBytes:bytes length:length encoding:encoding];
  if (frees) free(bytes);
  return self;
}
- (instancetype)initWithData:(NSData*)data encoding:(NSStringEncoding)encoding {
  return [self initWithBytes:[data bytes] length:[data length] encoding:encoding];
}
- (instancetype)initWithFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  self = [self initWithFormat:format arguments:arguments];
  va_end(arguments);
  return self;
}
- (instancetype)initWithFormat:(NSString*)format arguments:(va_list)arguments {
  return [self initWithText:formatted(format, arguments)];
}
- (instancetype)initWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error {
  std::ifstream file(std::string(text_of(path)), std::ios::binary);
  if (!file || std::filesystem::is_directory(text_of(path))) {
    if (error) {
      *error = metalloid::objective_c::error_of(NSCocoaErrorDomain, 260,
                                                "The file “" + std::string(text_of(path)) + "” couldn’t be opened.");
    }
    [self release];
    return nil;
  }
  const std::string contents{std::istreambuf_iterator<char>(file), {}};
  return [self initWithBytes:contents.data() length:contents.size() encoding:encoding];
}
- (std::string&)mutableText {
  return text;
}
- (const char*)UTF8String {
  return text.c_str();
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return text.size();
}
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return 3 * [self length];
}
// What follows works for literals, too, which have no variables.
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding {
  return [self UTF8String];
}
- (const char*)fileSystemRepresentation {
  return [self UTF8String];
}
- (NSUInteger)length {
  return utf16_length(text_of(self));
}
- (unichar)characterAtIndex:(NSUInteger)index {
  if (index >= [self length]) check_range(self, "characterAtIndex:", NSMakeRange(index, 1));
  return metalloid::objective_c::utf16_unit(text_of(self), index);
}
- (BOOL)getCString:(char*)buffer maxLength:(NSUInteger)size encoding:(NSStringEncoding)encoding {
  const std::string_view own = text_of(self);
  if (own.size() >= size) return NO;
  std::copy(own.begin(), own.end(), buffer);
  buffer[own.size()] = 0;
  return YES;
}
- (NSData*)dataUsingEncoding:(NSStringEncoding)encoding {
  const std::string_view own = text_of(self);
  return [NSData dataWithBytes:own.data() length:own.size()];
}
- (BOOL)writeToFile:(NSString*)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError**)error {
  const BOOL written = [[self dataUsingEncoding:encoding] writeToFile:path atomically:atomically];
  if (!written && error) {
    *error = metalloid::objective_c::error_of(NSCocoaErrorDomain, 512,
                                              "The file “" + std::string(text_of(path)) + "” couldn’t be saved.");
  }
  return written;
}
- (BOOL)isEqualToString:(NSString*)other {
  return other && text_of(self) == text_of(other);
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSString class]] && [self isEqualToString:other]);
}
- (NSUInteger)hash {
  return std::hash<std::string_view>()(text_of(self));
}
- (NSComparisonResult)compare:(NSString*)other {
  return order(text_of(self), text_of(other));
}
- (NSComparisonResult)caseInsensitiveCompare:(NSString*)other {
  return [[self lowercaseString] compare:[other lowercaseString]];
}
- (BOOL)hasPrefix:(NSString*)prefix {
  return text_of(self).starts_with(text_of(prefix));
}
- (BOOL)hasSuffix:(NSString*)suffix {
  return text_of(self).ends_with(text_of(suffix));
}
- (BOOL)containsString:(NSString*)other {
  return text_of(self).find(text_of(other)) != std::string_view::npos;
}
- (NSRange)rangeOfString:(NSString*)other {
  return [self rangeOfString:other options:NSLiteralSearch];
}
- (NSRange)rangeOfString:(NSString*)other options:(NSStringCompareOptions)options {
  if (options & NSCaseInsensitiveSearch) {
    return [[self lowercaseString] rangeOfString:[other lowercaseString] options:options & ~NSCaseInsensitiveSearch];
  }
  const std::string_view own = text_of(self), what = text_of(other);
  const std::size_t place = options & NSBackwardsSearch ? own.rfind(what) : own.find(what);
  if (what.empty() || place == std::string_view::npos) return NSMakeRange(NSNotFound, 0);
  return NSMakeRange(utf16_length(own.substr(0, place)), utf16_length(what));
}
- (NSString*)stringByAppendingString:(NSString*)other {
  check_argument("stringByAppendingString:", other);
  return string_of(std::string(text_of(self)) + std::string(text_of(other)));
}
- (NSString*)stringByAppendingFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  const std::string more = formatted(format, arguments);
  va_end(arguments);
  return string_of(std::string(text_of(self)) + more);
}
- (NSString*)stringByReplacingOccurrencesOfString:(NSString*)what withString:(NSString*)by {
  const std::string_view old = text_of(what);
  std::string result(text_of(self));
  if (old.empty()) return string_of(result);
  for (std::size_t at = 0; (at = result.find(old, at)) != std::string::npos; at += text_of(by).size()) {
    result.replace(at, old.size(), text_of(by));
  }
  return string_of(result);
}
- (NSString*)stringByTrimmingCharactersInSet:(NSCharacterSet*)set {
  std::string_view own = text_of(self);
  const auto drops = [&](char one) { return [set characterIsMember:static_cast<unsigned char>(one)]; };
  while (!own.empty() && drops(own.front())) own.remove_prefix(1);
  while (!own.empty() && drops(own.back())) own.remove_suffix(1);
  return string_of(own);
}
- (NSArray<NSString*>*)componentsSeparatedByString:(NSString*)separator {
  NSMutableArray* parts = [NSMutableArray array];
  std::string_view rest = text_of(self);
  const std::string_view between = text_of(separator);
  for (std::size_t end = 0; !between.empty() && (end = rest.find(between)) != std::string_view::npos;) {
    [parts addObject:string_of(rest.substr(0, end))];
    rest.remove_prefix(end + between.size());
  }
  [parts addObject:string_of(rest)];
  return parts;
}
- (NSString*)substringToIndex:(NSUInteger)end {
  check_range(self, "substringToIndex:", NSMakeRange(0, end));
  return [self substringWithRange:NSMakeRange(0, end)];
}
- (NSString*)substringFromIndex:(NSUInteger)begin {
  check_range(self, "substringFromIndex:", NSMakeRange(begin, 0));
  return [self substringWithRange:NSMakeRange(begin, [self length] - begin)];
}
- (NSString*)substringWithRange:(NSRange)range {
  check_range(self, "substringWithRange:", range);
  const std::string_view own = text_of(self);
  const std::size_t begin = utf8_offset(own, range.location), end = utf8_offset(own, NSMaxRange(range));
  return string_of(own.substr(begin, end - begin));
}
- (NSString*)lowercaseString {
  return mapped(self, &lower);
}
- (NSString*)uppercaseString {
  return mapped(self, &upper);
}
- (double)doubleValue {
  return strtod([self UTF8String], nullptr);
}
- (float)floatValue {
  return strtof([self UTF8String], nullptr);
}
- (int)intValue {
  return static_cast<int>(std::clamp<long long>([self longLongValue], INT_MIN, INT_MAX));
}
- (NSInteger)integerValue {
  return [self longLongValue];
}
- (long long)longLongValue {
  return strtoll([self UTF8String], nullptr, 10);
}
- (BOOL)boolValue {
  std::string_view own = text_of(self);
  while (!own.empty() && std::string_view(" \t+-0").find(own.front()) != std::string_view::npos) own.remove_prefix(1);
  return !own.empty() && std::string_view("YyTt123456789").find(own.front()) != std::string_view::npos;
}
- (id)copy {
  return [[NSString alloc] initWithText:text_of(self)];
}
- (id)mutableCopy {
  return [[NSMutableString alloc] initWithText:text_of(self)];
}
- (NSString*)description {
  return self;
}
@end

@implementation NSMutableString
+ (instancetype)string {
  return [[[self alloc] initWithText:""] autorelease];
}
+ (instancetype)stringWithCapacity:(NSUInteger)capacity {
  return [self string];
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
  return self;
}
- (void)appendString:(NSString*)other {
  check_argument("appendString:", other);
  [self mutableText] += text_of(other);
}
- (void)appendFormat:(NSString*)format, ... {
  va_list arguments;
  va_start(arguments, format);
  [self mutableText] += formatted(format, arguments);
  va_end(arguments);
}
- (void)setString:(NSString*)other {
  check_argument("setString:", other);
  [self mutableText] = std::string(text_of(other));
}
- (void)insertString:(NSString*)other atIndex:(NSUInteger)index {
  [self replaceCharactersInRange:NSMakeRange(index, 0) withString:other];
}
- (void)deleteCharactersInRange:(NSRange)range {
  [self replaceCharactersInRange:range withString:@""];
}
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString*)other {
  check_range(self, "replaceCharactersInRange:withString:", range);
  check_argument("replaceCharactersInRange:withString:", other);
  std::string& own = [self mutableText];
  const std::size_t begin = utf8_offset(own, range.location), end = utf8_offset(own, NSMaxRange(range));
  own.replace(begin, end - begin, std::string(text_of(other)));
}
@end

// Literals answer as strings do; their memory is the compiler's.
@implementation NSConstantString
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
- (id)copy {
  return self;
}
- (Class)class {
  return [NSString class];
}
- (const char*)UTF8String {
  return reinterpret_cast<const Literal*>((__bridge void*)self)->text;
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return reinterpret_cast<const Literal*>((__bridge void*)self)->bytes;
}
@end

namespace metalloid::objective_c {

NSString* string_of(std::string_view text) { return [[[NSString alloc] initWithText:text] autorelease]; }

std::string_view text_of(NSString* string) {
  if (!string) return "";
  return {[string UTF8String], [string lengthOfBytesUsingEncoding:NSUTF8StringEncoding]};
}

std::string describe(id object) { return object ? std::string(text_of([object description])) : "(null)"; }

}  // namespace metalloid::objective_c
