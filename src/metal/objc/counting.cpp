// What automatic reference counting (-fobjc-arc) and properties call.
#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "metal/objc/runtime.h"

using namespace metalloid::objective_c;

namespace {

// Of atomic properties: a getter retains what a setter may let go of.
std::mutex& lock_of(const void* place) {
  static std::array<std::mutex, 64>& mutexes = *new std::array<std::mutex, 64>;
  return mutexes[reinterpret_cast<std::uintptr_t>(place) / 8 % mutexes.size()];
}

void* send_named(void* object, const char* name) {
  Selector selector = {name, nullptr};
  return send(object, selector);
}

void* autoreleased(void* object) {
  static const char* const name = unique_name("autorelease");
  return object ? send_named(object, name) : nullptr;
}

void** place_of(void* object, std::ptrdiff_t offset) {
  return reinterpret_cast<void**>(static_cast<char*>(object) + offset);
}

void copy_bytes(void* to, const void* from, std::ptrdiff_t size, bool atomic, const void* place) {
  std::unique_lock<std::mutex> lock;
  if (atomic) lock = std::unique_lock(lock_of(place));
  std::memcpy(to, from, static_cast<std::size_t>(size));
}

}  // namespace

extern "C" {

void* objc_retain(void* object) {
  static const char* const name = unique_name("retain");
  return object ? send_named(object, name) : nullptr;
}
void objc_release(void* object) {
  static const char* const name = unique_name("release");
  if (object) send_named(object, name);
}
void* objc_autorelease(void* object) { return autoreleased(object); }
void* objc_retainAutorelease(void* object) { return autoreleased(objc_retain(object)); }
void* objc_autoreleaseReturnValue(void* object) { return autoreleased(object); }
void* objc_retainAutoreleaseReturnValue(void* object) { return autoreleased(objc_retain(object)); }
void* objc_retainAutoreleasedReturnValue(void* object) { return objc_retain(object); }
void* objc_unsafeClaimAutoreleasedReturnValue(void* object) { return object; }
void* objc_retainBlock(void* block) { return _Block_copy(block); }
void objc_storeStrong(void** place, void* object) {
  void* before = *place;
  *place = objc_retain(object);
  objc_release(before);
}

void* objc_getProperty(void* object, Selector*, std::ptrdiff_t offset, bool atomic) {
  void** place = place_of(object, offset);
  if (!atomic) return *place;
  void* value = nullptr;
  {
    const std::lock_guard lock(lock_of(place));
    value = objc_retain(*place);
  }
  return autoreleased(value);
}

void objc_setProperty(void* object, Selector*, std::ptrdiff_t offset, void* value, bool atomic, bool copies) {
  static const char* const copy = unique_name("copy");
  void** place = place_of(object, offset);
  void* own = copies && value ? send_named(value, copy) : objc_retain(value);
  void* before = nullptr;
  {
    std::unique_lock<std::mutex> lock;
    if (atomic) lock = std::unique_lock(lock_of(place));
    before = *place;
    *place = own;
  }
  objc_release(before);
}

void objc_getPropertyStruct(void* to, void* from, std::ptrdiff_t size, bool atomic, bool) {
  copy_bytes(to, from, size, atomic, from);
}

void objc_setPropertyStruct(void* to, void* from, std::ptrdiff_t size, bool atomic, bool) {
  copy_bytes(to, from, size, atomic, to);
}

}  // extern "C"
