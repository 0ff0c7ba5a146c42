// What is there or not.
#pragma once

#import <Foundation/NSArray.h>

@interface NSSet<ObjectType> : NSObject <NSFastEnumeration, NSCopying, NSMutableCopying>
+ (instancetype)set;
+ (instancetype)setWithObject:(ObjectType)object;
+ (instancetype)setWithObjects:(ObjectType)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)setWithArray:(NSArray<ObjectType>*)array;
- (instancetype)initWithArray:(NSArray<ObjectType>*)array;
@property(readonly) NSUInteger count;
@property(readonly, copy) NSArray<ObjectType>* allObjects;
- (BOOL)containsObject:(ObjectType)object;
- (ObjectType)member:(ObjectType)object;
- (ObjectType)anyObject;
- (NSEnumerator<ObjectType>*)objectEnumerator;
@end

@interface NSMutableSet<ObjectType> : NSSet <ObjectType>
+ (instancetype)setWithCapacity:(NSUInteger)count;
- (instancetype)initWithCapacity:(NSUInteger)count;
- (void)addObject:(ObjectType)object;
- (void)removeObject:(ObjectType)object;
- (void)removeAllObjects;
@end
