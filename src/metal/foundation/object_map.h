// Keys of Objective-C and what belongs to them, in the order in which they came.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "metal/foundation/foundation.h"

namespace metalloid::objective_c {

struct HashOfObject {
  std::size_t operator()(id object) const { return [object hash]; }
};
struct EqualObjects {
  bool operator()(id one, id other) const { return one == other || [one isEqual:other]; }
};

class ObjectMap {
 public:
  ObjectMap() = default;
  ~ObjectMap() { clear(); }
  ObjectMap(const ObjectMap&) = delete;
  ObjectMap& operator=(const ObjectMap&) = delete;

  const std::vector<id>& keys() const { return keys_; }
  const std::vector<id>& values() const { return values_; }
  const unsigned long* changes() const { return &changes_; }  // of the keys

  id value(id key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nil : values_[found->second];
  }
  id key(id equal) const {
    const auto found = places_.find(equal);
    return found == places_.end() ? nil : found->first;
  }

  // Takes the key as it is given, retained already.
  void put(id key, id value) {
    [value retain];
    const auto [place, added] = places_.try_emplace(key, keys_.size());
    if (added) {
      ++changes_;
      keys_.push_back(key);
      values_.push_back(value);
    } else {
      [key release];
      [std::exchange(values_[place->second], value) release];
    }
  }

  void remove(id key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    ++changes_;
    const std::size_t place = found->second, last = keys_.size() - 1;
    id old_key = keys_[place], old_value = values_[place];
    places_.erase(found);
    if (place != last) {
      keys_[place] = keys_[last];
      values_[place] = values_[last];
      places_[keys_[place]] = place;
    }
    keys_.pop_back();
    values_.pop_back();
    [old_key release];
    [old_value release];
  }

  void clear() {
    ++changes_;
    places_.clear();
    for (id key : std::exchange(keys_, {})) [key release];
    for (id value : std::exchange(values_, {})) [value release];
  }

 private:
  std::vector<id> keys_, values_;
  unsigned long changes_ = 0;
  std::unordered_map<id, std::size_t, HashOfObject, EqualObjects> places_;
};

// A window into what is enumerated. The compiler compares the number of changes before each turn.
NSUInteger enumerate(const std::vector<id>& items, const unsigned long* changes, NSFastEnumerationState* state,
                     id* buffer, NSUInteger length);
NSEnumerator* enumerator_of(const std::vector<id>& items);
std::string described(const std::vector<id>& items);

}  // namespace metalloid::objective_c
