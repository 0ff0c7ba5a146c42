// NSDictionary and NSSet: by the hash and equality of their keys.
#include <fmt/format.h>

#include "metal/foundation/object_map.h"

using metalloid::objective_c::ObjectMap;
using metalloid::objective_c::raise_invalid_argument;
using metalloid::objective_c::string_of;

namespace {

// "-[NSMutableDictionary setObject:forKey:]"
void check_key(const char* method, id key) {
  if (!key) raise_invalid_argument(fmt::format("*** {}: key cannot be nil", method));
}

}  // namespace

@implementation NSDictionary {
 @public
  ObjectMap map;
}
+ (instancetype)dictionary {
  return [[[self alloc] init] autorelease];
}
+ (instancetype)dictionaryWithObject:(id)object forKey:(id)key {
  return [self dictionaryWithObjects:&object forKeys:&key count:1];
}
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count {
  return [[[self alloc] initWithObjects:objects forKeys:keys count:count] autorelease];
}
+ (instancetype)dictionaryWithObjectsAndKeys:(id)first, ... {
  NSDictionary* one = [self dictionary];
  va_list arguments;
  va_start(arguments, first);
  for (id object = first; object; object = va_arg(arguments, id)) {
    id key = va_arg(arguments, id);
    if (!key) break;
    one->map.put([key copy], object);
  }
  va_end(arguments);
  return one;
}
+ (instancetype)dictionaryWithDictionary:(NSDictionary*)other {
  return [[[self alloc] initWithDictionary:other] autorelease];
}
- (instancetype)initWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) {
    if (!objects[i] || !keys[i]) {
      [self release];
      raise_invalid_argument(
          fmt::format("*** -[NSDictionary initWithObjects:forKeys:count:]: attempt to insert nil {0} from {0}s[{1}]",
                      keys[i] ? "object" : "key", i));
    }
    map.put([keys[i] copy], objects[i]);
  }
  return self;
}
- (instancetype)initWithDictionary:(NSDictionary*)other {
  for (id key in other) map.put([key copy], [other objectForKey:key]);
  return self;
}
- (NSUInteger)count {
  return map.keys().size();
}
- (id)objectForKey:(id)key {
  return key ? map.value(key) : nil;
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (id)valueForKey:(NSString*)key {
  return [self objectForKey:key];
}
- (NSArray*)allKeys {
  return [NSArray arrayWithObjects:map.keys().data() count:map.keys().size()];
}
- (NSArray*)allValues {
  return [NSArray arrayWithObjects:map.values().data() count:map.values().size()];
}
- (NSEnumerator*)keyEnumerator {
  return metalloid::objective_c::enumerator_of(map.keys());
}
- (NSEnumerator*)objectEnumerator {
  return metalloid::objective_c::enumerator_of(map.values());
}
- (BOOL)isEqualToDictionary:(NSDictionary*)other {
  if ([other count] != [self count]) return NO;
  for (id key in self) {
    if (![[self objectForKey:key] isEqual:[other objectForKey:key]]) return NO;
  }
  return YES;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSDictionary class]] && [self isEqualToDictionary:other]);
}
- (NSUInteger)hash {
  return [self count];
}
- (void)enumerateKeysAndObjectsUsingBlock:(void (^)(id key, id object, BOOL* stop))block {
  BOOL stop = NO;
  for (id key in [self allKeys]) {
    block(key, [self objectForKey:key], &stop);
    if (stop) return;
  }
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  return metalloid::objective_c::enumerate(map.keys(), map.changes(), state, buffer, length);
}
- (id)copy {
  return [[NSDictionary alloc] initWithDictionary:self];
}
- (id)mutableCopy {
  return [[NSMutableDictionary alloc] initWithDictionary:self];
}
- (NSString*)description {
  std::string text;
  for (id key in self) {
    text += metalloid::objective_c::describe(key) + " = " + metalloid::objective_c::describe([self objectForKey:key]) +
            "; ";
  }
  return string_of("{" + text + "}");
}
@end

@implementation NSMutableDictionary
+ (instancetype)dictionaryWithCapacity:(NSUInteger)count {
  return [self dictionary];
}
- (instancetype)initWithCapacity:(NSUInteger)count {
  return self;
}
- (void)setObject:(id)object forKey:(id)key {
  check_key("-[NSMutableDictionary setObject:forKey:]", key);
  if (!object) {
    raise_invalid_argument(fmt::format("*** -[NSMutableDictionary setObject:forKey:]: object cannot be nil (key: {})",
                                       metalloid::objective_c::describe(key)));
  }
  map.put([key copy], object);
}
- (void)setObject:(id)object forKeyedSubscript:(id)key {
  object ? [self setObject:object forKey:key] : [self removeObjectForKey:key];
}
- (void)removeObjectForKey:(id)key {
  check_key("-[NSMutableDictionary removeObjectForKey:]", key);
  map.remove(key);
}
- (void)removeAllObjects {
  map.clear();
}
@end

@implementation NSSet {
 @public
  ObjectMap map;  // each by itself
}
+ (instancetype)set {
  return [[[self alloc] init] autorelease];
}
+ (instancetype)setWithObject:(id)object {
  return [self setWithArray:[NSArray arrayWithObject:object]];
}
+ (instancetype)setWithObjects:(id)first, ... {
  NSMutableArray* all = [NSMutableArray array];
  va_list arguments;
  va_start(arguments, first);
  for (id one = first; one; one = va_arg(arguments, id)) [all addObject:one];
  va_end(arguments);
  return [self setWithArray:all];
}
+ (instancetype)setWithArray:(NSArray*)array {
  return [[[self alloc] initWithArray:array] autorelease];
}
- (instancetype)initWithArray:(NSArray*)array {
  for (id one in array) map.put([one retain], nil);
  return self;
}
- (NSUInteger)count {
  return map.keys().size();
}
- (NSArray*)allObjects {
  return [NSArray arrayWithObjects:map.keys().data() count:map.keys().size()];
}
- (BOOL)containsObject:(id)object {
  return [self member:object] != nil;
}
- (id)member:(id)object {
  return object ? map.key(object) : nil;
}
- (id)anyObject {
  return map.keys().empty() ? nil : map.keys().front();
}
- (NSEnumerator*)objectEnumerator {
  return metalloid::objective_c::enumerator_of(map.keys());
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  return metalloid::objective_c::enumerate(map.keys(), map.changes(), state, buffer, length);
}
- (id)copy {
  return [[NSSet alloc] initWithArray:[self allObjects]];
}
- (id)mutableCopy {
  return [[NSMutableSet alloc] initWithArray:[self allObjects]];
}
- (NSString*)description {
  return string_of(metalloid::objective_c::described(map.keys()));
}
@end

@implementation NSMutableSet
+ (instancetype)setWithCapacity:(NSUInteger)count {
  return [self set];
}
- (instancetype)initWithCapacity:(NSUInteger)count {
  return self;
}
- (void)addObject:(id)object {
  if (!object) raise_invalid_argument("*** -[NSMutableSet addObject:]: object cannot be nil");
  if (![self containsObject:object]) map.put([object retain], nil);
}
- (void)removeObject:(id)object {
  map.remove(object);
}
- (void)removeAllObjects {
  map.clear();
}
@end
