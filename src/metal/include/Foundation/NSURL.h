// Places of files.
#pragma once

#import <Foundation/NSString.h>

// Of files.
@interface NSURL : NSObject <NSCopying>
+ (instancetype)fileURLWithPath:(NSString*)path;
+ (instancetype)fileURLWithPath:(NSString*)path isDirectory:(BOOL)is_directory;
+ (instancetype)URLWithString:(NSString*)text;
- (instancetype)initFileURLWithPath:(NSString*)path;
- (instancetype)initWithString:(NSString*)text;
@property(readonly, copy) NSString* path;
@property(readonly, copy) NSString* absoluteString;
@property(readonly, copy) NSString* lastPathComponent;
@property(readonly, copy) NSString* pathExtension;
@property(readonly, getter=isFileURL) BOOL fileURL;
@property(readonly) const char* fileSystemRepresentation;
- (NSURL*)URLByAppendingPathComponent:(NSString*)component;
- (NSURL*)URLByDeletingLastPathComponent;
@end
