// Numbers and small structures as objects.
#pragma once

#import <Foundation/NSObjCRuntime.h>

@interface NSValue : NSObject <NSCopying>
+ (NSValue*)valueWithPointer:(const void*)pointer;
+ (NSValue*)valueWithRange:(NSRange)range;
+ (NSValue*)valueWithBytes:(const void*)bytes objCType:(const char*)type;
@property(readonly) void* pointerValue;
@property(readonly) NSRange rangeValue;
@property(readonly) const char* objCType;
- (void)getValue:(void*)bytes;
- (void)getValue:(void*)bytes size:(NSUInteger)size;
@end

@interface NSNumber : NSValue
+ (NSNumber*)numberWithBool:(BOOL)value;
+ (NSNumber*)numberWithChar:(char)value;
+ (NSNumber*)numberWithUnsignedChar:(unsigned char)value;
+ (NSNumber*)numberWithShort:(short)value;
+ (NSNumber*)numberWithUnsignedShort:(unsigned short)value;
+ (NSNumber*)numberWithInt:(int)value;
+ (NSNumber*)numberWithUnsignedInt:(unsigned int)value;
+ (NSNumber*)numberWithLong:(long)value;
+ (NSNumber*)numberWithUnsignedLong:(unsigned long)value;
+ (NSNumber*)numberWithLongLong:(long long)value;
+ (NSNumber*)numberWithUnsignedLongLong:(unsigned long long)value;
+ (NSNumber*)numberWithInteger:(NSInteger)value;
+ (NSNumber*)numberWithUnsignedInteger:(NSUInteger)value;
+ (NSNumber*)numberWithFloat:(float)value;
+ (NSNumber*)numberWithDouble:(double)value;
@property(readonly) BOOL boolValue;
@property(readonly) char charValue;
@property(readonly) unsigned char unsignedCharValue;
@property(readonly) short shortValue;
@property(readonly) unsigned short unsignedShortValue;
@property(readonly) int intValue;
@property(readonly) unsigned int unsignedIntValue;
@property(readonly) long longValue;
@property(readonly) unsigned long unsignedLongValue;
@property(readonly) long long longLongValue;
@property(readonly) unsigned long long unsignedLongLongValue;
@property(readonly) NSInteger integerValue;
@property(readonly) NSUInteger unsignedIntegerValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
- (BOOL)isEqualToNumber:(NSNumber*)other;
- (NSComparisonResult)compare:(NSNumber*)other;
@property(readonly, copy) NSString* stringValue;
@end
