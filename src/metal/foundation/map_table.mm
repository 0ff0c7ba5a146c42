// NSMapTable: keys and objects may be held weakly, and keys be compared by identity.
#include <algorithm>
#include <memory>
#include <vector>

#include "metal/foundation/object_map.h"

extern "C" {
void* objc_initWeak(void** place, void* object);
void* objc_loadWeakRetained(void** place);
void objc_destroyWeak(void** place);
}

namespace {

// One reference of a table's.
class Reference {
 public:
  Reference(id object, NSPointerFunctionsOptions options) : options_(options) {
    if (is_weak()) {
      objc_initWeak(&held_, (__bridge void*)object);
    } else {
      held_ = (__bridge void*)(is_opaque() ? object : [object retain]);
    }
  }
  ~Reference() {
    if (is_weak()) objc_destroyWeak(&held_);
    if (!is_weak() && !is_opaque()) objc_release(held_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  // Null where it was weak and is gone.
  id get() const {
    if (!is_weak()) return (__bridge id)held_;
    return [(__bridge id)objc_loadWeakRetained(&held_) autorelease];
  }
  bool equals(id other) const {
    id own = get();
    const bool by_identity = is_weak() || (options_ & (NSPointerFunctionsObjectPointerPersonality |
                                                       NSPointerFunctionsOpaquePersonality));
    return own && (own == other || (!by_identity && [own isEqual:other]));
  }

 private:
  NSPointerFunctionsOptions memory() const { return options_ & 0xff; }
  bool is_weak() const { return memory() == NSPointerFunctionsWeakMemory; }
  bool is_opaque() const { return memory() == NSPointerFunctionsOpaqueMemory; }

  NSPointerFunctionsOptions options_;
  mutable void* held_ = nullptr;
};

struct Entry {
  std::unique_ptr<Reference> key, value;
};

}  // namespace

@implementation NSMapTable {
  NSPointerFunctionsOptions keys, values;
  std::vector<Entry> entries;
}
+ (instancetype)mapTableWithKeyOptions:(NSPointerFunctionsOptions)keys valueOptions:(NSPointerFunctionsOptions)values {
  return [[[self alloc] initWithKeyOptions:keys valueOptions:values capacity:0] autorelease];
}
+ (instancetype)strongToStrongObjectsMapTable {
  return [self mapTableWithKeyOptions:NSMapTableStrongMemory valueOptions:NSMapTableStrongMemory];
}
+ (instancetype)weakToStrongObjectsMapTable {
  return [self mapTableWithKeyOptions:NSMapTableWeakMemory valueOptions:NSMapTableStrongMemory];
}
+ (instancetype)strongToWeakObjectsMapTable {
  return [self mapTableWithKeyOptions:NSMapTableStrongMemory valueOptions:NSMapTableWeakMemory];
}
+ (instancetype)weakToWeakObjectsMapTable {
  return [self mapTableWithKeyOptions:NSMapTableWeakMemory valueOptions:NSMapTableWeakMemory];
}
- (instancetype)initWithKeyOptions:(NSPointerFunctionsOptions)ofKeys
                      valueOptions:(NSPointerFunctionsOptions)ofValues
                          capacity:(NSUInteger)capacity {
  keys = ofKeys;
  values = ofValues;
  return self;
}
- (void)forget {
  std::erase_if(entries, [](const Entry& one) { return !one.key->get() || !one.value->get(); });
}
- (id)objectForKey:(id)key {
  const auto found = std::ranges::find_if(entries, [&](const Entry& one) { return one.key->equals(key); });
  return found == entries.end() ? nil : found->value->get();
}
- (void)setObject:(id)object forKey:(id)key {
  [self removeObjectForKey:key];
  entries.push_back({std::make_unique<Reference>(key, keys), std::make_unique<Reference>(object, values)});
}
- (void)removeObjectForKey:(id)key {
  [self forget];
  std::erase_if(entries, [&](const Entry& one) { return one.key->equals(key); });
}
- (void)removeAllObjects {
  entries.clear();
}
- (NSUInteger)count {
  [self forget];
  return entries.size();
}
- (NSEnumerator*)keyEnumerator {
  std::vector<id> all;
  for (const Entry& one : entries) {
    if (id key = one.key->get()) all.push_back(key);
  }
  return metalloid::objective_c::enumerator_of(all);
}
- (NSEnumerator*)objectEnumerator {
  std::vector<id> all;
  for (const Entry& one : entries) {
    if (id value = one.value->get()) all.push_back(value);
  }
  return metalloid::objective_c::enumerator_of(all);
}
@end
