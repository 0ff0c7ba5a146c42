// What is found by keys.
#pragma once

#import <Foundation/NSArray.h>

@interface NSDictionary<KeyType, ObjectType> : NSObject <NSFastEnumeration, NSCopying, NSMutableCopying>
+ (instancetype)dictionary;
+ (instancetype)dictionaryWithObject:(ObjectType)object forKey:(KeyType)key;
+ (instancetype)dictionaryWithObjects:(const ObjectType[])objects forKeys:(const KeyType[])keys count:(NSUInteger)count;
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first, ... NS_REQUIRES_NIL_TERMINATION;
+ (instancetype)dictionaryWithDictionary:(NSDictionary<KeyType, ObjectType>*)other;
- (instancetype)initWithObjects:(const ObjectType[])objects forKeys:(const KeyType[])keys count:(NSUInteger)count;
- (instancetype)initWithDictionary:(NSDictionary<KeyType, ObjectType>*)other;
@property(readonly) NSUInteger count;
- (ObjectType)objectForKey:(KeyType)key;
- (ObjectType)objectForKeyedSubscript:(KeyType)key;
- (ObjectType)valueForKey:(NSString*)key;
@property(readonly, copy) NSArray<KeyType>* allKeys;
@property(readonly, copy) NSArray<ObjectType>* allValues;
- (NSEnumerator<KeyType>*)keyEnumerator;
- (NSEnumerator<ObjectType>*)objectEnumerator;
- (BOOL)isEqualToDictionary:(NSDictionary<KeyType, ObjectType>*)other;
#ifdef __BLOCKS__
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(KeyType key, ObjectType object, BOOL* stop))block;
#endif
@end

@interface NSMutableDictionary<KeyType, ObjectType> : NSDictionary <KeyType, ObjectType>
+ (instancetype)dictionaryWithCapacity:(NSUInteger)count;
- (instancetype)initWithCapacity:(NSUInteger)count;
- (void)setObject:(ObjectType)object forKey:(KeyType)key;
- (void)setObject:(ObjectType)object forKeyedSubscript:(KeyType)key;
- (void)removeObjectForKey:(KeyType)key;
- (void)removeAllObjects;
@end

typedef NS_OPTIONS(NSUInteger, NSPointerFunctionsOptions) {
  NSPointerFunctionsStrongMemory = 0,
  NSPointerFunctionsOpaqueMemory = 2,
  NSPointerFunctionsWeakMemory = 5,
  NSPointerFunctionsObjectPersonality = 0,
  NSPointerFunctionsOpaquePersonality = 1 << 8,
  NSPointerFunctionsObjectPointerPersonality = 2 << 8,
};
typedef NSPointerFunctionsOptions NSMapTableOptions;
enum { NSMapTableStrongMemory = 0, NSMapTableWeakMemory = 5 };

// By identity of the keys where their options say so; a weak key's or object's entry goes with it.
@interface NSMapTable<KeyType, ObjectType> : NSObject
+ (instancetype)mapTableWithKeyOptions:(NSPointerFunctionsOptions)keys valueOptions:(NSPointerFunctionsOptions)values;
+ (instancetype)strongToStrongObjectsMapTable;
+ (instancetype)weakToStrongObjectsMapTable;
+ (instancetype)strongToWeakObjectsMapTable;
+ (instancetype)weakToWeakObjectsMapTable;
- (instancetype)initWithKeyOptions:(NSPointerFunctionsOptions)keys
                      valueOptions:(NSPointerFunctionsOptions)values
                          capacity:(NSUInteger)capacity;
- (ObjectType)objectForKey:(KeyType)key;
- (void)setObject:(ObjectType)object forKey:(KeyType)key;
- (void)removeObjectForKey:(KeyType)key;
- (void)removeAllObjects;
@property(readonly) NSUInteger count;
- (NSEnumerator<KeyType>*)keyEnumerator;
- (NSEnumerator<ObjectType>*)objectEnumerator;
@end
