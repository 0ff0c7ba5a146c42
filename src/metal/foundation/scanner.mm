// NSCharacterSet and NSScanner, for characters of ASCII.
#include <bitset>
#include <string>

#include "metal/foundation/foundation.h"

using metalloid::objective_c::string_of;
using metalloid::objective_c::text_of;

@implementation NSCharacterSet {
 @public
  std::bitset<256> members;
}
+ (NSCharacterSet*)characterSetWithCharactersInString:(NSString*)characters {
  NSCharacterSet* set = [[[self alloc] init] autorelease];
  for (const char one : text_of(characters)) set->members.set(static_cast<unsigned char>(one));
  return set;
}
+ (NSCharacterSet*)whitespaceCharacterSet {
  return [self characterSetWithCharactersInString:@" \t"];
}
+ (NSCharacterSet*)whitespaceAndNewlineCharacterSet {
  return [self characterSetWithCharactersInString:@" \t\n\r\v\f"];
}
+ (NSCharacterSet*)newlineCharacterSet {
  return [self characterSetWithCharactersInString:@"\n\r\v\f"];
}
+ (NSCharacterSet*)decimalDigitCharacterSet {
  return [self characterSetWithCharactersInString:@"0123456789"];
}
- (BOOL)characterIsMember:(unichar)character {
  return character < members.size() && members.test(character);
}
@end

@implementation NSScanner {
  std::string text;
  std::size_t place;  // bytes
  NSCharacterSet* skipped;
}
+ (instancetype)scannerWithString:(NSString*)string {
  return [[[self alloc] initWithString:string] autorelease];
}
- (instancetype)initWithString:(NSString*)string {
  text = text_of(string);
  skipped = [[NSCharacterSet whitespaceAndNewlineCharacterSet] retain];
  return self;
}
- (void)dealloc {
  [skipped release];
  [super dealloc];
}
- (NSString*)string {
  return string_of(text);
}
- (NSUInteger)scanLocation {
  return place;
}
- (void)setScanLocation:(NSUInteger)location {
  place = location;
}
- (NSCharacterSet*)charactersToBeSkipped {
  return skipped;
}
- (void)setCharactersToBeSkipped:(NSCharacterSet*)set {
  [set retain];
  [skipped release];
  skipped = set;
}
- (std::size_t)begin {
  std::size_t at = place;
  while (at < text.size() && [skipped characterIsMember:static_cast<unsigned char>(text[at])]) ++at;
  return at;
}
- (BOOL)isAtEnd {
  return [self begin] == text.size();
}
- (BOOL)take:(std::size_t)begin to:(std::size_t)end into:(NSString**)result {
  if (begin == end) return NO;
  if (result) *result = string_of(std::string_view(text).substr(begin, end - begin));
  place = end;
  return YES;
}
- (BOOL)scanString:(NSString*)string intoString:(NSString**)result {
  const std::size_t from = [self begin];
  if (!std::string_view(text).substr(from).starts_with(text_of(string))) return NO;
  return [self take:from to:from + text_of(string).size() into:result];
}
- (BOOL)scanUpToString:(NSString*)string intoString:(NSString**)result {
  const std::size_t from = [self begin];
  return [self take:from to:std::min(text.find(text_of(string), from), text.size()) into:result];
}
- (BOOL)scanInteger:(NSInteger*)result {
  const std::size_t from = [self begin];
  char* end = nullptr;
  const long value = strtol(text.c_str() + from, &end, 10);
  if (result) *result = value;
  return [self take:from to:static_cast<std::size_t>(end - text.c_str()) into:nil];
}
- (BOOL)scanDouble:(double*)result {
  const std::size_t from = [self begin];
  char* end = nullptr;
  const double value = strtod(text.c_str() + from, &end);
  if (result) *result = value;
  return [self take:from to:static_cast<std::size_t>(end - text.c_str()) into:nil];
}
@end
