// Strings as paths, and NSURL.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "metal/foundation/foundation.h"

using metalloid::objective_c::string_of;
using metalloid::objective_c::text_of;
namespace fs = std::filesystem;

namespace {

fs::path path_of(NSString* string) { return fs::path(text_of(string)); }

// Without what stands at the end of a folder's name.
std::string_view trimmed(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

std::string joined(std::string_view folder, std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  std::string path(trimmed(folder));
  if (!path.empty() && !path.ends_with('/') && !name.empty()) path += '/';
  return path + std::string(trimmed(name));
}

}  // namespace

@implementation NSString (NSStringPathExtensions)
+ (NSString*)pathWithComponents:(NSArray<NSString*>*)components {
  std::string path;
  for (NSString* one in components) path = path.empty() ? std::string(text_of(one)) : joined(path, text_of(one));
  return string_of(path);
}
- (NSArray<NSString*>*)pathComponents {
  NSMutableArray* parts = [NSMutableArray array];
  for (const fs::path& part : path_of(self)) {
    if (!part.empty()) [parts addObject:string_of(part.string())];
  }
  return parts;
}
- (NSString*)lastPathComponent {
  const std::string_view path = trimmed(text_of(self));
  const std::size_t slash = path.rfind('/');
  return string_of(slash == std::string_view::npos || path == "/" ? path : path.substr(slash + 1));
}
- (NSString*)pathExtension {
  const std::string extension = fs::path(trimmed(text_of(self))).extension().string();
  return string_of(extension.empty() ? extension : extension.substr(1));
}
- (BOOL)isAbsolutePath {
  return text_of(self).starts_with('/') || text_of(self).starts_with('~');
}
- (NSString*)stringByDeletingLastPathComponent {
  return string_of(fs::path(trimmed(text_of(self))).parent_path().string());
}
- (NSString*)stringByDeletingPathExtension {
  return string_of(fs::path(trimmed(text_of(self))).replace_extension().string());
}
- (NSString*)stringByStandardizingPath {
  return string_of(trimmed(path_of([self stringByExpandingTildeInPath]).lexically_normal().string()));
}
- (NSString*)stringByResolvingSymlinksInPath {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path_of([self stringByExpandingTildeInPath]), error);
  return error ? self : string_of(resolved.string());
}
- (NSString*)stringByExpandingTildeInPath {
  const std::string_view path = text_of(self);
  if (path != "~" && !path.starts_with("~/")) return self;
  return string_of(std::string(text_of(NSHomeDirectory())) + std::string(path.substr(1)));
}
- (NSString*)stringByAppendingPathComponent:(NSString*)component {
  return string_of(joined(text_of(self), text_of(component)));
}
- (NSString*)stringByAppendingPathExtension:(NSString*)extension {
  return string_of(std::string(trimmed(text_of(self))) + "." + std::string(text_of(extension)));
}
@end

NSString* NSHomeDirectory(void) {
  const char* home = std::getenv("HOME");
  return string_of(home ? home : "/");
}

NSString* NSTemporaryDirectory(void) {
  const char* folder = std::getenv("TMPDIR");
  return string_of(joined(folder && *folder ? folder : "/tmp", "") + "/");
}

@implementation NSURL {
  std::string place;  // a path; of another scheme the whole text
  bool is_file;
}
+ (instancetype)fileURLWithPath:(NSString*)path {
  return [[[self alloc] initFileURLWithPath:path] autorelease];
}
+ (instancetype)fileURLWithPath:(NSString*)path isDirectory:(BOOL)is_directory {
  return [self fileURLWithPath:path];
}
+ (instancetype)URLWithString:(NSString*)text {
  return [[[self alloc] initWithString:text] autorelease];
}
- (instancetype)initFileURLWithPath:(NSString*)path {
  place = text_of(path);
  is_file = true;
  return self;
}
- (instancetype)initWithString:(NSString*)text {
  const std::string_view all = text_of(text), scheme = "file://";
  is_file = all.starts_with(scheme);
  place = is_file ? all.substr(scheme.size()) : all;
  return self;
}
- (NSString*)path {
  return string_of(place);
}
- (NSString*)absoluteString {
  return string_of(is_file ? "file://" + place : place);
}
- (NSString*)lastPathComponent {
  return [[self path] lastPathComponent];
}
- (NSString*)pathExtension {
  return [[self path] pathExtension];
}
- (BOOL)isFileURL {
  return is_file;
}
- (const char*)fileSystemRepresentation {
  return place.c_str();
}
- (NSURL*)URLByAppendingPathComponent:(NSString*)component {
  return [NSURL fileURLWithPath:[[self path] stringByAppendingPathComponent:component]];
}
- (NSURL*)URLByDeletingLastPathComponent {
  return [NSURL fileURLWithPath:[[self path] stringByDeletingLastPathComponent]];
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSURL class]] && [[self absoluteString] isEqual:[other absoluteString]];
}
- (NSUInteger)hash {
  return [[self absoluteString] hash];
}
- (NSString*)description {
  return [self absoluteString];
}
@end
