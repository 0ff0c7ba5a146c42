// Where a program and its files are, and what it was started with.
#pragma once

#import <Foundation/NSDictionary.h>
#import <Foundation/NSString.h>
#import <Foundation/NSURL.h>

// A program's or a library's folder.
@interface NSBundle : NSObject
+ (NSBundle*)mainBundle;
+ (NSBundle*)bundleForClass:(Class)one;
+ (NSBundle*)bundleWithPath:(NSString*)path;
+ (NSBundle*)bundleWithURL:(NSURL*)url;
+ (NSBundle*)bundleWithIdentifier:(NSString*)identifier;
+ (NSArray<NSBundle*>*)allBundles;
@property(readonly, copy) NSString* bundlePath;
@property(readonly, copy) NSString* resourcePath;
@property(readonly, copy) NSString* executablePath;
@property(readonly, copy) NSURL* bundleURL;
@property(readonly, copy) NSURL* resourceURL;
@property(readonly, copy) NSString* bundleIdentifier;
@property(readonly, copy) NSDictionary<NSString*, id>* infoDictionary;
- (NSString*)pathForResource:(NSString*)name ofType:(NSString*)extension;
- (NSURL*)URLForResource:(NSString*)name withExtension:(NSString*)extension;
- (id)objectForInfoDictionaryKey:(NSString*)key;
@end

typedef struct {
  NSInteger majorVersion, minorVersion, patchVersion;
} NSOperatingSystemVersion;

@interface NSProcessInfo : NSObject
+ (NSProcessInfo*)processInfo;
@property(readonly, copy) NSArray<NSString*>* arguments;
@property(readonly, copy) NSDictionary<NSString*, NSString*>* environment;
@property(readonly, copy) NSString* processName;
@property(readonly, copy) NSString* hostName;
@property(readonly) int processIdentifier;
@property(readonly) NSUInteger processorCount;
@property(readonly) NSUInteger activeProcessorCount;
@property(readonly) unsigned long long physicalMemory;
@property(readonly) NSTimeInterval systemUptime;
@property(readonly, copy) NSString* operatingSystemVersionString;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)version;
@end

typedef NSString* NSFileAttributeKey;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileType;
FOUNDATION_EXPORT NSFileAttributeKey const NSFileSize;
FOUNDATION_EXPORT NSString* const NSFileTypeRegular;
FOUNDATION_EXPORT NSString* const NSFileTypeDirectory;
FOUNDATION_EXPORT NSString* const NSFileTypeSymbolicLink;

@interface NSFileManager : NSObject
+ (NSFileManager*)defaultManager;
@property(readonly, copy) NSString* currentDirectoryPath;
- (BOOL)fileExistsAtPath:(NSString*)path;
- (BOOL)fileExistsAtPath:(NSString*)path isDirectory:(BOOL*)is_directory;
- (BOOL)isReadableFileAtPath:(NSString*)path;
- (BOOL)isWritableFileAtPath:(NSString*)path;
- (BOOL)isExecutableFileAtPath:(NSString*)path;
- (NSData*)contentsAtPath:(NSString*)path;
- (NSDictionary<NSFileAttributeKey, id>*)attributesOfItemAtPath:(NSString*)path error:(NSError**)error;
- (NSString*)destinationOfSymbolicLinkAtPath:(NSString*)path error:(NSError**)error;
- (NSArray<NSString*>*)contentsOfDirectoryAtPath:(NSString*)path error:(NSError**)error;
- (BOOL)createDirectoryAtPath:(NSString*)path
    withIntermediateDirectories:(BOOL)intermediate
                     attributes:(NSDictionary<NSFileAttributeKey, id>*)attributes
                          error:(NSError**)error;
- (BOOL)removeItemAtPath:(NSString*)path error:(NSError**)error;
@end
