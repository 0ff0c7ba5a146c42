// <Foundation/Foundation.h>: what host code of Metal kernels uses of it.
#pragma once

#include <dispatch/dispatch.h>
#include <objc/objc.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

typedef long NSInteger;
typedef unsigned long NSUInteger;
typedef double NSTimeInterval;
typedef double CFTimeInterval;
typedef unsigned short unichar;
#define NSIntegerMax INT64_MAX
#define NSUIntegerMax UINT64_MAX
// After `typedef`.
#define NS_ENUM(type, name) enum name : type name; enum name : type
#define NS_OPTIONS(type, name) enum name : type name; enum name : type
#define NS_ASSUME_NONNULL_BEGIN
#define NS_ASSUME_NONNULL_END
#define FOUNDATION_EXPORT OBJC_EXTERN
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
static inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
static const NSUInteger NSNotFound = NSIntegerMax;

typedef NSUInteger NSStringEncoding;
enum : NSStringEncoding { NSASCIIStringEncoding = 1, NSUTF8StringEncoding = 4 };

typedef struct {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
} NSFastEnumerationState;

@class NSString, NSError;

@protocol NSObject
- (instancetype)retain;
- (void)release;
- (instancetype)autorelease;
- (NSUInteger)retainCount;
- (BOOL)isEqual:(id)object;
- (NSUInteger)hash;
- (Class)class;
- (BOOL)isKindOfClass:(Class)kind;
- (BOOL)respondsToSelector:(SEL)selector;
- (instancetype)self;
- (NSString*)description;
@end

@protocol NSCopying
- (id)copy;
@end

@protocol NSFastEnumeration
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained*)buffer
                                    count:(NSUInteger)length;
@end

// Objects begin as metalloid::torch_host::Object does.
__attribute__((objc_root_class)) @interface NSObject <NSObject> {
  Class isa;
  unsigned int _kind;
  unsigned int _references;
  void* _destroy;
}
+ (instancetype)alloc;
+ (instancetype)new;
+ (Class)class;
+ (instancetype)retain;
+ (void)release;
+ (BOOL)isSubclassOfClass:(Class)kind;
- (instancetype)init;
- (id)performSelector:(SEL)selector;
- (void)dealloc;
- (id)copy;
@end

@interface NSAutoreleasePool : NSObject {
  void* objects;
  NSAutoreleasePool* outer;
}
- (void)drain;
@end

@interface NSString : NSObject <NSCopying>
+ (instancetype)string;
+ (instancetype)stringWithUTF8String:(const char*)text;
+ (instancetype)stringWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
+ (instancetype)stringWithFormat:(NSString*)format, ...;
+ (instancetype)stringWithString:(NSString*)string;
- (instancetype)initWithUTF8String:(const char*)text;
- (instancetype)initWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString*)format, ...;
@property(readonly) const char* UTF8String;
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding;
@property(readonly) NSUInteger length;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString*)other;
- (BOOL)hasPrefix:(NSString*)prefix;
- (BOOL)hasSuffix:(NSString*)suffix;
- (NSString*)stringByAppendingString:(NSString*)other;
@end

// Literals, @"...". As the compiler lays them out.
__attribute__((objc_root_class)) @interface NSConstantStringBase {
  Class isa;
}
@end
@interface NSConstantString : NSConstantStringBase {
  const char* text;
  unsigned int bytes;
}
@end

@interface NSValue : NSObject
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
@property(readonly) NSString* stringValue;
@end

@interface NSArray<ObjectType> : NSObject <NSFastEnumeration, NSCopying> {
 @public
  void* items;
}
+ (instancetype)array;
+ (instancetype)arrayWithObject:(ObjectType)object;
+ (instancetype)arrayWithObjects:(const ObjectType[])objects count:(NSUInteger)count;
+ (instancetype)arrayWithObjects:(ObjectType)first, ...;
+ (instancetype)arrayWithArray:(NSArray<ObjectType>*)array;
- (instancetype)initWithObjects:(const ObjectType[])objects count:(NSUInteger)count;
@property(readonly) NSUInteger count;
- (ObjectType)objectAtIndex:(NSUInteger)index;
- (ObjectType)objectAtIndexedSubscript:(NSUInteger)index;
@property(readonly) ObjectType firstObject;
@property(readonly) ObjectType lastObject;
- (BOOL)containsObject:(ObjectType)object;
- (NSUInteger)indexOfObject:(ObjectType)object;
- (BOOL)isEqualToArray:(NSArray<ObjectType>*)other;
- (NSArray<ObjectType>*)arrayByAddingObject:(ObjectType)object;
@end

@interface NSMutableArray<ObjectType> : NSArray <ObjectType>
+ (instancetype)arrayWithCapacity:(NSUInteger)count;
- (instancetype)initWithCapacity:(NSUInteger)count;
- (void)addObject:(ObjectType)object;
- (void)insertObject:(ObjectType)object atIndex:(NSUInteger)index;
- (void)removeObjectAtIndex:(NSUInteger)index;
- (void)removeLastObject;
- (void)removeAllObjects;
- (void)setObject:(ObjectType)object atIndexedSubscript:(NSUInteger)index;
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(ObjectType)object;
@end

@interface NSDictionary<KeyType, ObjectType> : NSObject <NSFastEnumeration, NSCopying> {
  NSMutableArray *keys, *values;
}
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObject:(ObjectType)object forKey:(KeyType)key;
+ (instancetype)dictionaryWithObjects:(const ObjectType[])objects forKeys:(const KeyType[])keys count:(NSUInteger)count;
@property(readonly) NSUInteger count;
- (ObjectType)objectForKey:(KeyType)key;
- (ObjectType)objectForKeyedSubscript:(KeyType)key;
@property(readonly) NSArray<KeyType>* allKeys;
@property(readonly) NSArray<ObjectType>* allValues;
@end

@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary <KeyType, ObjectType>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)count;
- (instancetype)initWithCapacity:(NSUInteger)count;
- (void)setObject:(ObjectType)object forKey:(KeyType)key;
- (void)setObject:(ObjectType)object forKeyedSubscript:(KeyType)key;
- (void)removeObjectForKey:(KeyType)key;
- (void)removeAllObjects;
@end

@interface NSData : NSObject {
  void* contents;
}
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length;
@property(readonly) const void* bytes;
@property(readonly) NSUInteger length;
@end

@interface NSError : NSObject {
  NSString* text;
}
@property(readonly) NSString* localizedDescription;
@property(readonly) NSInteger code;
@property(readonly) NSString* domain;
@end

@interface NSURL : NSObject {
  NSString* place;
}
+ (instancetype)fileURLWithPath:(NSString*)path;
@property(readonly) NSString* path;
@end

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end

OBJC_EXTERN void NSLog(NSString* format, ...);
OBJC_EXTERN id NSClassFromString(NSString* name);
