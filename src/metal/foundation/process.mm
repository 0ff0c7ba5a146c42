// The process and its files: NSProcessInfo, NSBundle, NSFileManager.
#include <dlfcn.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "metal/foundation/foundation.h"

using metalloid::objective_c::error_of;
using metalloid::objective_c::string_of;
using metalloid::objective_c::text_of;
namespace fs = std::filesystem;

extern char** environ;

NSFileAttributeKey const NSFileType = @"NSFileType";
NSFileAttributeKey const NSFileSize = @"NSFileSize";
NSString* const NSFileTypeRegular = @"NSFileTypeRegular";
NSString* const NSFileTypeDirectory = @"NSFileTypeDirectory";
NSString* const NSFileTypeSymbolicLink = @"NSFileTypeSymbolicLink";

namespace {

fs::path path_of(NSString* string) { return fs::path(text_of(string)); }

fs::path executable() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
}

bool failed(const std::error_code& code, NSString* path, NSError** error) {
  if (!code) return false;
  if (error) *error = error_of(NSPOSIXErrorDomain, code.value(), std::string(text_of(path)) + ": " + code.message());
  return true;
}

NSBundle* made(const fs::path& folder, const fs::path& program);

}  // namespace

@implementation NSProcessInfo
+ (NSProcessInfo*)processInfo {
  static NSProcessInfo* const one = [[NSProcessInfo alloc] init];
  return one;
}
- (NSArray<NSString*>*)arguments {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  NSMutableArray* all = [NSMutableArray array];
  for (std::string one; std::getline(file, one, '\0');) [all addObject:string_of(one)];
  return all;
}
- (NSDictionary<NSString*, NSString*>*)environment {
  NSMutableDictionary* all = [NSMutableDictionary dictionary];
  for (char** one = environ; *one; ++one) {
    const std::string_view text = *one;
    const std::size_t sign = text.find('=');
    if (sign != std::string_view::npos) [all setObject:string_of(text.substr(sign + 1)) forKey:string_of(text.substr(0, sign))];
  }
  return all;
}
- (NSString*)processName {
  return string_of(executable().filename().string());
}
- (NSString*)hostName {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return string_of(name);
}
- (int)processIdentifier {
  return getpid();
}
- (NSUInteger)processorCount {
  return std::thread::hardware_concurrency();
}
- (NSUInteger)activeProcessorCount {
  return std::thread::hardware_concurrency();
}
- (unsigned long long)physicalMemory {
  struct sysinfo all = {};
  sysinfo(&all);
  return static_cast<unsigned long long>(all.totalram) * all.mem_unit;
}
- (NSTimeInterval)systemUptime {
  struct timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
// As TargetConditionals.h says.
- (NSOperatingSystemVersion)operatingSystemVersion {
  return {15, 0, 0};
}
- (NSString*)operatingSystemVersionString {
  return @"Version 15.0";
}
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version {
  return version.majorVersion < 15 || (version.majorVersion == 15 && version.minorVersion == 0 && version.patchVersion == 0);
}
@end

@implementation NSBundle {
 @public
  std::string folder, program;
}
+ (NSBundle*)mainBundle {
  static NSBundle* const one = [made(executable().parent_path(), executable()) retain];
  return one;
}
// The folder of the library that has the class.
+ (NSBundle*)bundleForClass:(Class)one {
  Dl_info info = {};
  if (!one || !dladdr((__bridge void*)one, &info) || !info.dli_fname) return [self mainBundle];
  const fs::path library = fs::absolute(info.dli_fname);
  return made(library.parent_path(), library);
}
+ (NSBundle*)bundleWithPath:(NSString*)path {
  std::error_code error;
  return fs::is_directory(path_of(path), error) ? made(path_of(path), {}) : nil;
}
+ (NSBundle*)bundleWithURL:(NSURL*)url {
  return [self bundleWithPath:[url path]];
}
+ (NSBundle*)bundleWithIdentifier:(NSString*)identifier {
  return nil;
}
+ (NSArray<NSBundle*>*)allBundles {
  return [NSArray arrayWithObject:[self mainBundle]];
}
- (NSString*)bundlePath {
  return string_of(folder);
}
- (NSString*)resourcePath {
  return string_of(folder);
}
- (NSString*)executablePath {
  return program.empty() ? nil : string_of(program);
}
- (NSURL*)bundleURL {
  return [NSURL fileURLWithPath:[self bundlePath]];
}
- (NSURL*)resourceURL {
  return [self bundleURL];
}
- (NSString*)bundleIdentifier {
  return nil;
}
- (NSDictionary*)infoDictionary {
  return [NSDictionary dictionary];
}
- (id)objectForInfoDictionaryKey:(NSString*)key {
  return nil;
}
- (NSString*)pathForResource:(NSString*)name ofType:(NSString*)extension {
  fs::path path = fs::path(folder) / path_of(name);
  if (extension && [extension length] != 0) path += "." + std::string(text_of(extension));
  std::error_code error;
  return fs::exists(path, error) ? string_of(path.string()) : nil;
}
- (NSURL*)URLForResource:(NSString*)name withExtension:(NSString*)extension {
  NSString* path = [self pathForResource:name ofType:extension];
  return path ? [NSURL fileURLWithPath:path] : nil;
}
@end

namespace {

NSBundle* made(const fs::path& folder, const fs::path& program) {
  NSBundle* bundle = [[[NSBundle alloc] init] autorelease];
  bundle->folder = folder.string();
  bundle->program = program.string();
  return bundle;
}

}  // namespace

@implementation NSFileManager
+ (NSFileManager*)defaultManager {
  static NSFileManager* const one = [[NSFileManager alloc] init];
  return one;
}
- (NSString*)currentDirectoryPath {
  std::error_code error;
  return string_of(fs::current_path(error).string());
}
- (BOOL)fileExistsAtPath:(NSString*)path {
  return [self fileExistsAtPath:path isDirectory:nullptr];
}
- (BOOL)fileExistsAtPath:(NSString*)path isDirectory:(BOOL*)is_directory {
  std::error_code error;
  // A caller's BOOL has one byte.
  if (is_directory) *reinterpret_cast<bool*>(is_directory) = fs::is_directory(path_of(path), error);
  return fs::exists(path_of(path), error);
}
- (BOOL)isReadableFileAtPath:(NSString*)path {
  return access([path UTF8String], R_OK) == 0;
}
- (BOOL)isWritableFileAtPath:(NSString*)path {
  return access([path UTF8String], W_OK) == 0;
}
- (BOOL)isExecutableFileAtPath:(NSString*)path {
  return access([path UTF8String], X_OK) == 0;
}
- (NSData*)contentsAtPath:(NSString*)path {
  return [NSData dataWithContentsOfFile:path];
}
- (NSDictionary*)attributesOfItemAtPath:(NSString*)path error:(NSError**)error {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(path_of(path), code);
  if (failed(code, path, error)) return nil;
  NSString* type = fs::is_symlink(status) ? NSFileTypeSymbolicLink
                   : fs::is_directory(status) ? NSFileTypeDirectory : NSFileTypeRegular;
  const std::uintmax_t size = fs::is_regular_file(status) ? fs::file_size(path_of(path), code) : 0;
  return @{NSFileType : type, NSFileSize : [NSNumber numberWithUnsignedLong:size]};
}
- (NSString*)destinationOfSymbolicLinkAtPath:(NSString*)path error:(NSError**)error {
  std::error_code code;
  const fs::path place = fs::read_symlink(path_of(path), code);
  return failed(code, path, error) ? nil : string_of(place.string());
}
- (NSArray<NSString*>*)contentsOfDirectoryAtPath:(NSString*)path error:(NSError**)error {
  std::error_code code;
  NSMutableArray* names = [NSMutableArray array];
  for (const auto& one : fs::directory_iterator(path_of(path), code)) {
    [names addObject:string_of(one.path().filename().string())];
  }
  return failed(code, path, error) ? nil : names;
}
- (BOOL)createDirectoryAtPath:(NSString*)path
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary*)attributes
                          error:(NSError**)error {
  std::error_code code;
  if (intermediate) {
    fs::create_directories(path_of(path), code);
  } else if (!fs::create_directory(path_of(path), code) && !code) {
    code = std::make_error_code(std::errc::file_exists);
  }
  return !failed(code, path, error);
}
- (BOOL)removeItemAtPath:(NSString*)path error:(NSError**)error {
  std::error_code code;
  if (fs::remove_all(path_of(path), code) == 0 && !code) code = std::make_error_code(std::errc::no_such_file_or_directory);
  return !failed(code, path, error);
}
@end
