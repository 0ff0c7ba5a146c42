// Objects of classes: their beginning, their end, and who refers to them weakly.
#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "metal/objc/runtime.h"
#include "metalloid/metal/object.h"

namespace metalloid::objective_c {
namespace {

constexpr std::uint32_t has_weak_places = 1;  // of an object's flags

struct Weak {
  std::mutex mutex;
  std::unordered_map<void*, std::vector<void**>> places;
};

Weak& weak() {
  static Weak& instance = *new Weak;
  return instance;
}

// From the root's variables to the class's own.
void construct(void* object, const Class* one) {
  static const char* const name = unique_name(".cxx_construct");
  if (one->super) construct(object, one->super);
  if (one->info & has_construct) own_method(one, name)->code(object, nullptr);
}

void destruct(void* object, const Class* one) {
  static const char* const name = unique_name(".cxx_destruct");
  for (; one; one = one->super) {
    if (one->info & has_destruct) own_method(one, name)->code(object, nullptr);
  }
}

// Under the lock. Objects that nothing counts need no place.
void refer(Weak& all, void** place, void* object) {
  *place = object;
  if (!metal::is_object(object)) return;
  auto* counted = static_cast<metal::Object*>(object);
  if (counted->references.load() == 0) {
    *place = nullptr;
    return;
  }
  counted->flags.fetch_or(has_weak_places);
  all.places[object].push_back(place);
}

void forget_place(Weak& all, void** place) {
  const auto found = all.places.find(*place);
  if (found == all.places.end()) return;
  std::erase(found->second, place);
  if (found->second.empty()) all.places.erase(found);
}

// One reference more, unless it is going. Under the lock, so that its memory stays.
void* retained(void* object) {
  if (!metal::is_object(object)) return object;
  auto& references = static_cast<metal::Object*>(object)->references;
  std::uint32_t count = references.load();
  while (count != 0 && !references.compare_exchange_weak(count, count + 1)) {
  }
  return count != 0 ? object : nullptr;
}

}  // namespace

void* create_instance(Class* one) {
  auto* object = static_cast<metal::Object*>(metal::allocate_object(static_cast<std::size_t>(one->instance_size)));
  object->isa = one;
  object->references = 1;
  object->destroy = [](metal::Object* self) {
    static Selector dealloc = {unique_name("dealloc"), nullptr};
    send(self, dealloc);
  };
  construct(object, one);
  return object;
}

void destroy_instance(void* object) {
  const auto* one = static_cast<Class*>(static_cast<metal::Object*>(object)->isa);
  destruct(object, one);
  metal::free_object(object, static_cast<std::size_t>(one->instance_size));
}

void forget_weak(metal::Object& object) {
  if (!(object.flags.load() & has_weak_places)) return;
  Weak& all = weak();
  const std::lock_guard lock(all.mutex);
  const auto found = all.places.find(&object);
  if (found == all.places.end()) return;
  for (void** place : found->second) *place = nullptr;
  all.places.erase(found);
}

void* send(void* receiver, Selector& selector) { return objc_msg_lookup(receiver, &selector)(receiver, &selector); }

}  // namespace metalloid::objective_c

void metalloid::metal::release(Object* object) noexcept {
  if (!object || object->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  objective_c::forget_weak(*object);
  if (object->destroy) object->destroy(object);
}

using namespace metalloid::objective_c;

// What automatic reference counting calls for `__weak` variables.
extern "C" {

void* objc_storeWeak(void** place, void* object) {
  Weak& all = weak();
  const std::lock_guard lock(all.mutex);
  if (*place) forget_place(all, place);
  refer(all, place, object);
  return *place;
}

void* objc_initWeak(void** place, void* object) {
  *place = nullptr;
  return objc_storeWeak(place, object);
}

void objc_destroyWeak(void** place) { objc_storeWeak(place, nullptr); }

void* objc_loadWeakRetained(void** place) {
  const std::lock_guard lock(weak().mutex);
  return retained(*place);
}

void* objc_loadWeak(void** place) {
  void* object = objc_loadWeakRetained(place);
  autorelease(object);
  return object;
}

void objc_copyWeak(void** to, void** from) {
  void* object = objc_loadWeakRetained(from);
  objc_initWeak(to, object);
  objc_release(object);
}

void objc_moveWeak(void** to, void** from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}

}  // extern "C"
