// NSData.
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "metal/foundation/foundation.h"

using metalloid::objective_c::text_of;

@implementation NSData {
 @public
  std::string contents;
  void* foreign;  // bytes that are not copied, if any
  NSUInteger foreign_length;
  bool frees;
}
+ (instancetype)data {
  return [[[self alloc] init] autorelease];
}
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length {
  return [[[self alloc] initWithBytes:bytes length:length] autorelease];
}
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length {
  return [self dataWithBytesNoCopy:bytes length:length freeWhenDone:YES];
}
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)frees {
  NSData* data = [self data];
  data->foreign = bytes;
  data->foreign_length = length;
  data->frees = frees;
  return data;
}
+ (instancetype)dataWithContentsOfFile:(NSString*)path {
  return [[[self alloc] initWithContentsOfFile:path] autorelease];
}
+ (instancetype)dataWithContentsOfURL:(NSURL*)url {
  return [self dataWithContentsOfFile:[url path]];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length {
  if (length != 0) contents.assign(static_cast<const char*>(bytes), length);
  return self;
}
- (instancetype)initWithContentsOfFile:(NSString*)path {
  std::ifstream file(std::string(text_of(path)), std::ios::binary);
  if (!file || std::filesystem::is_directory(text_of(path))) {
    [self release];
    return nil;
  }
  contents.assign(std::istreambuf_iterator<char>(file), {});
  return self;
}
- (void)dealloc {
  if (frees) free(foreign);
  [super dealloc];
}
- (const void*)bytes {
  return foreign ? foreign : contents.data();
}
- (NSUInteger)length {
  return foreign ? foreign_length : contents.size();
}
- (BOOL)isEqualToData:(NSData*)other {
  return other && [self length] == [other length] && std::memcmp([self bytes], [other bytes], [self length]) == 0;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSData class]] && [self isEqualToData:other]);
}
- (NSUInteger)hash {
  return std::hash<std::string_view>()({static_cast<const char*>([self bytes]), [self length]});
}
- (void)getBytes:(void*)buffer length:(NSUInteger)length {
  std::memcpy(buffer, [self bytes], MIN(length, [self length]));
}
- (NSData*)subdataWithRange:(NSRange)range {
  if (range.location > [self length] || range.length > [self length] - range.location) {
    metalloid::objective_c::raise_out_of_range(
        fmt::format("*** -[NSData subdataWithRange:]: range {{{}, {}}} exceeds data length {}", range.location,
                    range.length, [self length]));
  }
  return [NSData dataWithBytes:static_cast<const char*>([self bytes]) + range.location length:range.length];
}
- (BOOL)writeToFile:(NSString*)path atomically:(BOOL)atomically {
  const std::string to(text_of(path)), first = atomically ? to + ".new" : to;
  {
    std::ofstream file(first, std::ios::binary);
    file.write(static_cast<const char*>([self bytes]), static_cast<std::streamsize>([self length]));
    if (!file.flush()) return NO;
  }
  return !atomically || std::rename(first.c_str(), to.c_str()) == 0;
}
- (id)mutableCopy {
  return [[NSMutableData alloc] initWithBytes:[self bytes] length:[self length]];
}
- (NSString*)description {
  return [NSString stringWithFormat:@"{length = %lu}", [self length]];
}
@end

@implementation NSMutableData
+ (instancetype)dataWithLength:(NSUInteger)length {
  NSMutableData* data = [self data];
  [data setLength:length];
  return data;
}
+ (instancetype)dataWithCapacity:(NSUInteger)capacity {
  return [self data];
}
- (void*)mutableBytes {
  return contents.data();
}
- (void)appendBytes:(const void*)bytes length:(NSUInteger)length {
  contents.append(static_cast<const char*>(bytes), length);
}
- (void)appendData:(NSData*)other {
  [self appendBytes:[other bytes] length:[other length]];
}
- (void)setLength:(NSUInteger)length {
  contents.resize(length);
}
- (id)copy {
  return [[NSData alloc] initWithBytes:[self bytes] length:[self length]];
}
@end
