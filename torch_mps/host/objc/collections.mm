// NSArray and NSDictionary.
#import <Foundation/Foundation.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>

#include "host/objc/foundation.h"

namespace {

std::vector<id>& items_of(NSArray* array) {
  if (!array->items) array->items = new std::vector<id>;
  return *static_cast<std::vector<id>*>(array->items);
}

// A window into what is enumerated.
NSUInteger enumerate(const std::vector<id>& items, NSFastEnumerationState* state, id* buffer, NSUInteger length) {
  const size_t from = state->state, count = std::min<size_t>(length, items.size() - from);
  std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(from), count, buffer);
  state->state = from + count;
  state->itemsPtr = buffer;
  state->extra[0] = 0;
  state->mutationsPtr = &state->extra[0];
  return count;
}

}  // namespace

@implementation NSArray
+ (instancetype)array {
  return [[[self alloc] init] autorelease];
}
+ (instancetype)arrayWithObject:(id)object {
  return [[[self alloc] initWithObjects:&object count:1] autorelease];
}
+ (instancetype)arrayWithObjects:(const id[])objects count:(NSUInteger)count {
  return [[[self alloc] initWithObjects:objects count:count] autorelease];
}
+ (instancetype)arrayWithObjects:(id)first, ... {
  std::vector<id> objects;
  va_list arguments;
  va_start(arguments, first);
  for (id one = first; one; one = va_arg(arguments, id)) objects.push_back(one);
  va_end(arguments);
  return [self arrayWithObjects:objects.data() count:objects.size()];
}
+ (instancetype)arrayWithArray:(NSArray*)array {
  return [self arrayWithObjects:items_of(array).data() count:[array count]];
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) items_of(self).push_back([objects[i] retain]);
  return self;
}
- (NSUInteger)count {
  return items_of(self).size();
}
- (id)objectAtIndex:(NSUInteger)index {
  TORCH_CHECK_INDEX(index < items_of(self).size(), "index ", index, " beyond an NSArray of ", items_of(self).size());
  return items_of(self)[index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return [self objectAtIndex:index];
}
- (id)firstObject {
  return items_of(self).empty() ? nil : items_of(self).front();
}
- (id)lastObject {
  return items_of(self).empty() ? nil : items_of(self).back();
}
- (NSUInteger)indexOfObject:(id)object {
  for (NSUInteger i = 0; i < items_of(self).size(); ++i) {
    if ([items_of(self)[i] isEqual:object]) return i;
  }
  return NSNotFound;
}
- (BOOL)containsObject:(id)object {
  return [self indexOfObject:object] != NSNotFound;
}
- (BOOL)isEqualToArray:(NSArray*)other {
  return other && std::ranges::equal(items_of(self), items_of(other), [](id a, id b) { return (bool)[a isEqual:b]; });
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSArray class]] && [self isEqualToArray:other]);
}
- (NSUInteger)hash {
  return items_of(self).size();
}
- (NSArray*)arrayByAddingObject:(id)object {
  std::vector<id> all = items_of(self);
  all.push_back(object);
  return [NSArray arrayWithObjects:all.data() count:all.size()];
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  return enumerate(items_of(self), state, buffer, length);
}
- (NSString*)description {
  std::string text;
  for (id one : items_of(self)) text += (text.empty() ? "" : ", ") + metalloid::objective_c::describe(one);
  return metalloid::objective_c::string_of("(" + text + ")");
}
- (void)dealloc {
  for (id one : items_of(self)) [one release];
  delete static_cast<std::vector<id>*>(items);
  [super dealloc];
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)count {
  return [self array];
}
- (instancetype)initWithCapacity:(NSUInteger)count {
  return self;
}
- (void)addObject:(id)object {
  items_of(self).push_back([object retain]);
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
  TORCH_CHECK_INDEX(index <= items_of(self).size(), "index ", index, " beyond an NSArray of ", items_of(self).size());
  items_of(self).insert(items_of(self).begin() + static_cast<std::ptrdiff_t>(index), [object retain]);
}
- (void)removeObjectAtIndex:(NSUInteger)index {
  id object = [self objectAtIndex:index];
  items_of(self).erase(items_of(self).begin() + static_cast<std::ptrdiff_t>(index));
  [object release];
}
- (void)removeLastObject {
  if ([self count]) [self removeObjectAtIndex:[self count] - 1];
}
- (void)removeAllObjects {
  for (id one : std::exchange(items_of(self), {})) [one release];
}
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index {
  if (index == [self count]) return [self addObject:object];
  [self replaceObjectAtIndex:index withObject:object];
}
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(id)object {
  id before = [self objectAtIndex:index];
  items_of(self)[index] = [object retain];
  [before release];
}
@end

// Side by side: host code's dictionaries are small.

@implementation NSDictionary
+ (instancetype)alloc {
  NSDictionary* one = [super alloc];
  one->keys = [[NSMutableArray alloc] init];
  one->values = [[NSMutableArray alloc] init];
  return one;
}
+ (instancetype)dictionary {
  return [[[self alloc] init] autorelease];
}
+ (instancetype)dictionaryWithObject:(id)object forKey:(id)key {
  return [self dictionaryWithObjects:&object forKeys:&key count:1];
}
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count {
  NSDictionary* one = [self dictionary];
  for (NSUInteger i = 0; i < count; ++i) [one put:objects[i] at:keys[i]];
  return one;
}
- (void)put:(id)object at:(id)key {
  const NSUInteger index = [keys indexOfObject:key];
  if (index != NSNotFound) return [values replaceObjectAtIndex:index withObject:object];
  id own = [key copy];
  [keys addObject:own];
  [own release];
  [values addObject:object];
}
- (NSUInteger)count {
  return [keys count];
}
- (id)objectForKey:(id)key {
  const NSUInteger index = [keys indexOfObject:key];
  return index == NSNotFound ? nil : [values objectAtIndex:index];
}
- (id)objectForKeyedSubscript:(id)key {
  return [self objectForKey:key];
}
- (NSArray*)allKeys {
  return [NSArray arrayWithArray:keys];
}
- (NSArray*)allValues {
  return [NSArray arrayWithArray:values];
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  return [keys countByEnumeratingWithState:state objects:buffer count:length];
}
- (NSString*)description {
  std::string text;
  for (id key in keys) {
    text += metalloid::objective_c::describe(key) + " = " + metalloid::objective_c::describe([self objectForKey:key]) +
            "; ";
  }
  return metalloid::objective_c::string_of("{" + text + "}");
}
- (void)dealloc {
  [keys release];
  [values release];
  [super dealloc];
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
  [self put:object at:key];
}
- (void)setObject:(id)object forKeyedSubscript:(id)key {
  object ? [self put:object at:key] : [self removeObjectForKey:key];
}
- (void)removeObjectForKey:(id)key {
  const NSUInteger index = [keys indexOfObject:key];
  if (index == NSNotFound) return;
  [keys removeObjectAtIndex:index];
  [values removeObjectAtIndex:index];
}
- (void)removeAllObjects {
  [keys removeAllObjects];
  [values removeAllObjects];
}
@end
