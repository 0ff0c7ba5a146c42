// NSArray, and what enumerates.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "metal/foundation/object_map.h"

using metalloid::objective_c::raise_invalid_argument;
using metalloid::objective_c::raise_out_of_range;
using metalloid::objective_c::string_of;

namespace {

std::string bounds(std::size_t count) {
  return count == 0 ? "beyond bounds for empty array" : fmt::format("beyond bounds [0 .. {}]", count - 1);
}

// "objectAtIndex:"
void check_index(const char* method, NSUInteger index, std::size_t count) {
  if (index >= count) raise_out_of_range(fmt::format("*** -[NSArray {}]: index {} {}", method, index, bounds(count)));
}

void check_object(const char* method, id object) {
  if (!object) raise_invalid_argument(fmt::format("*** -[NSMutableArray {}]: object cannot be nil", method));
}

}  // namespace

@interface MetalloidEnumerator : NSEnumerator
@end
@implementation NSEnumerator
- (id)nextObject {
  return nil;
}
- (NSArray*)allObjects {
  NSMutableArray* all = [NSMutableArray array];
  while (id one = [self nextObject]) [all addObject:one];
  return all;
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  state->state = 1;
  state->mutationsPtr = &state->extra[0];
  state->itemsPtr = buffer;
  buffer[0] = [self nextObject];
  return buffer[0] ? 1 : 0;
}
@end
@implementation MetalloidEnumerator {
 @public
  std::vector<id> items;
  std::size_t next;
}
- (id)nextObject {
  return next < items.size() ? items[next++] : nil;
}
- (void)dealloc {
  for (id one : items) [one release];
  [super dealloc];
}
@end

namespace metalloid::objective_c {

NSUInteger enumerate(const std::vector<id>& items, const unsigned long* changes, NSFastEnumerationState* state,
                     id* buffer, NSUInteger length) {
  const std::size_t from = std::min<std::size_t>(state->state, items.size()),
                    count = std::min<std::size_t>(length, items.size() - from);
  std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(from), count, buffer);
  state->state = from + count;
  state->itemsPtr = buffer;
  state->mutationsPtr = const_cast<unsigned long*>(changes);
  return count;
}

NSEnumerator* enumerator_of(const std::vector<id>& items) {
  MetalloidEnumerator* one = [[[MetalloidEnumerator alloc] init] autorelease];
  for (id item : items) one->items.push_back([item retain]);
  return one;
}

std::string described(const std::vector<id>& items) {
  std::string text;
  for (id one : items) text += (text.empty() ? "" : ", ") + describe(one);
  return "(" + text + ")";
}

}  // namespace metalloid::objective_c

@implementation NSArray {
 @public
  std::vector<id> items;
  unsigned long changes;
}
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
  return [[[self alloc] initWithArray:array] autorelease];
}
- (instancetype)initWithObjects:(const id[])objects count:(NSUInteger)count {
  for (NSUInteger i = 0; i < count; ++i) {
    if (!objects[i]) {
      [self release];
      raise_invalid_argument(
          fmt::format("*** -[NSArray initWithObjects:count:]: attempt to insert nil object from objects[{}]", i));
    }
    items.push_back([objects[i] retain]);
  }
  return self;
}
- (instancetype)initWithObjects:(id)first, ... {
  va_list arguments;
  va_start(arguments, first);
  for (id one = first; one; one = va_arg(arguments, id)) items.push_back([one retain]);
  va_end(arguments);
  return self;
}
- (instancetype)initWithArray:(NSArray*)array {
  for (id one in array) items.push_back([one retain]);
  return self;
}
- (NSUInteger)count {
  return items.size();
}
- (id)objectAtIndex:(NSUInteger)index {
  check_index("objectAtIndex:", index, items.size());
  return items[index];
}
- (id)objectAtIndexedSubscript:(NSUInteger)index {
  return [self objectAtIndex:index];
}
- (id)firstObject {
  return items.empty() ? nil : items.front();
}
- (id)lastObject {
  return items.empty() ? nil : items.back();
}
- (NSUInteger)indexOfObject:(id)object {
  const auto found = std::ranges::find_if(items, [&](id one) { return one == object || [one isEqual:object]; });
  return found == items.end() ? NSNotFound : static_cast<NSUInteger>(found - items.begin());
}
- (NSUInteger)indexOfObjectIdenticalTo:(id)object {
  const auto found = std::ranges::find(items, object);
  return found == items.end() ? NSNotFound : static_cast<NSUInteger>(found - items.begin());
}
- (BOOL)containsObject:(id)object {
  return [self indexOfObject:object] != NSNotFound;
}
- (BOOL)isEqualToArray:(NSArray*)other {
  return other && std::ranges::equal(items, other->items, [](id a, id b) { return static_cast<bool>([a isEqual:b]); });
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSArray class]] && [self isEqualToArray:other]);
}
- (NSUInteger)hash {
  return items.size();
}
- (NSArray*)arrayByAddingObject:(id)object {
  NSMutableArray* all = [NSMutableArray arrayWithArray:self];
  [all addObject:object];
  return all;
}
- (NSArray*)arrayByAddingObjectsFromArray:(NSArray*)other {
  NSMutableArray* all = [NSMutableArray arrayWithArray:self];
  [all addObjectsFromArray:other];
  return all;
}
- (NSArray*)subarrayWithRange:(NSRange)range {
  if (range.location > items.size() || range.length > items.size() - range.location) {
    raise_out_of_range(fmt::format("*** -[NSArray subarrayWithRange:]: range {{{}, {}}} {}", range.location,
                                   range.length, bounds(items.size())));
  }
  return [NSArray arrayWithObjects:items.data() + range.location count:range.length];
}
- (NSString*)componentsJoinedByString:(NSString*)separator {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != 0) text += metalloid::objective_c::text_of(separator);
    text += metalloid::objective_c::describe(items[i]);
  }
  return string_of(text);
}
- (NSEnumerator*)objectEnumerator {
  return metalloid::objective_c::enumerator_of(items);
}
- (NSArray*)sortedArrayUsingSelector:(SEL)comparator {
  return [self sortedArrayUsingComparator:^NSComparisonResult(id one, id other) {
    return (NSComparisonResult)[one performSelector:comparator withObject:other];
  }];
}
- (NSArray*)sortedArrayUsingComparator:(NSComparisonResult (^)(id one, id other))comparator {
  std::vector<id> sorted = items;
  std::ranges::stable_sort(sorted, [&](id one, id other) { return comparator(one, other) == NSOrderedAscending; });
  return [NSArray arrayWithObjects:sorted.data() count:sorted.size()];
}
- (void)enumerateObjectsUsingBlock:(void (^)(id object, NSUInteger index, BOOL* stop))block {
  BOOL stop = NO;
  for (std::size_t i = 0; i < items.size() && !stop; ++i) block(items[i], i, &stop);
}
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state objects:(id*)buffer count:(NSUInteger)length {
  return metalloid::objective_c::enumerate(items, &changes, state, buffer, length);
}
- (id)copy {
  return [[NSArray alloc] initWithArray:self];
}
- (id)mutableCopy {
  return [[NSMutableArray alloc] initWithArray:self];
}
- (NSString*)description {
  return string_of(metalloid::objective_c::described(items));
}
- (void)dealloc {
  for (id one : items) [one release];
  [super dealloc];
}
@end

@implementation NSMutableArray
+ (instancetype)arrayWithCapacity:(NSUInteger)count {
  return [self array];
}
- (instancetype)initWithCapacity:(NSUInteger)count {
  items.reserve(count);
  return self;
}
- (void)addObject:(id)object {
  check_object("addObject:", object);
  ++changes;
  items.push_back([object retain]);
}
- (void)addObjectsFromArray:(NSArray*)other {
  for (id one in [NSArray arrayWithArray:other]) [self addObject:one];
}
- (void)insertObject:(id)object atIndex:(NSUInteger)index {
  check_object("insertObject:atIndex:", object);
  if (index != items.size()) check_index("insertObject:atIndex:", index, items.size());
  ++changes;
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(index), [object retain]);
}
- (void)removeObject:(id)object {
  for (NSUInteger index; (index = [self indexOfObject:object]) != NSNotFound;) [self removeObjectAtIndex:index];
}
- (void)removeObjectAtIndex:(NSUInteger)index {
  check_index("removeObjectAtIndex:", index, items.size());
  ++changes;
  id object = items[index];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
  [object release];
}
- (void)removeLastObject {
  if (!items.empty()) [self removeObjectAtIndex:items.size() - 1];
}
- (void)removeAllObjects {
  ++changes;
  for (id one : std::exchange(items, {})) [one release];
}
- (void)setObject:(id)object atIndexedSubscript:(NSUInteger)index {
  if (index == items.size()) return [self addObject:object];
  [self replaceObjectAtIndex:index withObject:object];
}
- (void)replaceObjectAtIndex:(NSUInteger)index withObject:(id)object {
  check_object("replaceObjectAtIndex:withObject:", object);
  check_index("replaceObjectAtIndex:withObject:", index, items.size());
  id before = items[index];
  items[index] = [object retain];
  [before release];
}
@end
