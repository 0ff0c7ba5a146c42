// Bytes.
#pragma once

#import <Foundation/NSObjCRuntime.h>

@interface NSData : NSObject <NSCopying, NSMutableCopying>
+ (instancetype)data;
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length;
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length;
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)frees;
+ (instancetype)dataWithContentsOfFile:(NSString*)path;
+ (instancetype)dataWithContentsOfURL:(NSURL*)url;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length;
- (instancetype)initWithContentsOfFile:(NSString*)path;
@property(readonly) const void* bytes;
@property(readonly) NSUInteger length;
- (BOOL)isEqualToData:(NSData*)other;
- (void)getBytes:(void*)buffer length:(NSUInteger)length;
- (NSData*)subdataWithRange:(NSRange)range;
- (BOOL)writeToFile:(NSString*)path atomically:(BOOL)atomically;
@end

@interface NSMutableData : NSData
+ (instancetype)dataWithLength:(NSUInteger)length;
+ (instancetype)dataWithCapacity:(NSUInteger)capacity;
@property(readonly) void* mutableBytes;
- (void)appendBytes:(const void*)bytes length:(NSUInteger)length;
- (void)appendData:(NSData*)other;
- (void)setLength:(NSUInteger)length;
@end
