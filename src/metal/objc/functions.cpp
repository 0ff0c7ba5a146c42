// The runtime's functions as programs call them: classes, methods, selectors, protocols.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "metal/objc/runtime.h"
#include "metalloid/metal/host.h"

using namespace metalloid::objective_c;
using metalloid::metal::fail;
using metalloid::metal::Fault;

namespace {

// One lock for each object that is locked or waited for.
struct Synchronized {
  std::mutex mutex;
  struct Lock {
    std::recursive_mutex mutex;
    unsigned users = 0;
  };
  std::unordered_map<void*, std::unique_ptr<Lock>> locks;
};

Synchronized& synchronized() {
  static Synchronized& instance = *new Synchronized;
  return instance;
}

}  // namespace

extern "C" {

// What the compiler calls where a source names a class.
Class* objc_lookup_class(const char* name) {
  Class* one = class_named(name);
  if (!one) {
    fail(Fault::not_implemented,
         fmt::format("there is no Objective-C class {}{}", name,
                     std::string_view(name).starts_with("MPS")
                         ? ": it is Apple's own code of MetalPerformanceShaders, which is not available here"
                         : " in Metalloid's Foundation and Metal"));
  }
  return one;
}
Class* objc_get_class(const char* name) { return objc_lookup_class(name); }

Class* objc_getClass(const char* name) { return name ? class_named(name) : nullptr; }
Class* objc_lookUpClass(const char* name) { return objc_getClass(name); }
Class* objc_getRequiredClass(const char* name) { return objc_lookup_class(name); }
Class* objc_getMetaClass(const char* name) {
  Class* one = objc_getClass(name);
  return one ? one->isa : nullptr;
}
// Protocols leave nothing behind that a program could ask.
void* objc_getProtocol(const char*) { return nullptr; }

Class* object_getClass(void* object) { return object ? class_of(object) : nullptr; }
const char* object_getClassName(void* object) { return object ? name_of(class_of(object)) : "nil"; }
const char* class_getName(Class* one) { return one ? name_of(one) : "nil"; }
Class* class_getSuperclass(Class* one) { return one ? one->super : nullptr; }
bool class_isMetaClass(Class* one) { return one && one->info & is_metaclass; }
std::size_t class_getInstanceSize(Class* one) { return one ? static_cast<std::size_t>(one->instance_size) : 0; }
void* class_createInstance(Class* one, std::size_t extra_bytes) {
  return one && extra_bytes == 0 ? create_instance(one) : nullptr;
}
void* object_dispose(void* object) {
  if (object) destroy_instance(object);
  return nullptr;
}

const MethodEntry* class_getInstanceMethod(Class* one, Selector* selector) {
  return one && selector ? method_of(one, selector->name) : nullptr;
}
const MethodEntry* class_getClassMethod(Class* one, Selector* selector) {
  return one ? class_getInstanceMethod(one->isa, selector) : nullptr;
}
bool class_respondsToSelector(Class* one, Selector* selector) { return class_getInstanceMethod(one, selector); }
Method class_getMethodImplementation(Class* one, Selector* selector) {
  const MethodEntry* found = class_getInstanceMethod(one, selector);
  return found ? found->code : nullptr;
}
Selector* method_getName(const MethodEntry* method) { return registered_selector(method->name); }
const char* method_getTypeEncoding(const MethodEntry* method) { return method ? method->types : nullptr; }
Method method_getImplementation(const MethodEntry* method) { return method ? method->code : nullptr; }

// Classes that programs make while they run.
Class* objc_allocateClassPair(Class* super, const char* name, std::size_t) { return add_class(super, name); }
void objc_registerClassPair(Class*) {}
bool class_addMethod(Class* one, Selector* selector, Method code, const char* types) {
  return one && add_method(one, selector->name, code, types);
}

Selector* sel_registerName(const char* name) { return registered_selector(name); }
Selector* sel_getUid(const char* name) { return registered_selector(name); }
const char* sel_getName(Selector* selector) { return selector ? selector->name : "<null selector>"; }
bool sel_isEqual(Selector* one, Selector* other) { return one == other || (one && other && one->name == other->name); }

void objc_enumerationMutation(void* collection) {
  raise_exception(Fault::misuse, "NSGenericException",
                  fmt::format("*** Collection <{}: {}> was mutated while being enumerated.",
                              name_of(class_of(collection)), collection));
}

int objc_sync_enter(void* object) {
  Synchronized& all = synchronized();
  std::recursive_mutex* mutex = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    auto& found = all.locks[object];
    if (!found) found = std::make_unique<Synchronized::Lock>();
    ++found->users;
    mutex = &found->mutex;
  }
  mutex->lock();
  return 0;
}

int objc_sync_exit(void* object) {
  Synchronized& all = synchronized();
  const std::lock_guard lock(all.mutex);
  const auto found = all.locks.find(object);
  if (found == all.locks.end()) return 1;
  found->second->mutex.unlock();
  if (--found->second->users == 0) all.locks.erase(found);
  return 0;
}

}  // extern "C"
