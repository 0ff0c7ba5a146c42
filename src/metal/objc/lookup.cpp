// From a receiver and a selector to code.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "metal/objc/calls.h"
#include "metal/objc/runtime.h"
#include "metalloid/metal/host.h"
#include "metalloid/metal/object.h"

namespace metalloid::objective_c {
namespace {

using metal::fail;
using metal::Fault;

// Zero in every register that a result may come in.
struct Nothing {
  long integer;
  double real;
};
Nothing answer_of_nil(void*, Selector*) { return {0, 0}; }

// "-[MTLBuffer foo]"
std::string described(const Class* one, const char* selector) {
  const bool of_class = one->info & is_metaclass;
  return std::string(of_class ? "+[" : "-[") + name_of(one) + " " + selector + "]";
}

// Of our own classes, and not a program's.
bool is_own(const Class* one) {
  Dl_info class_info = {}, own_info = {};
  return dladdr(one, &class_info) && dladdr(reinterpret_cast<const void*>(&answer_of_nil), &own_info) &&
         class_info.dli_fbase == own_info.dli_fbase;
}

}  // namespace

void refuse(void* receiver, Selector* selector) {
  const Class* one = class_of(receiver);
  if (std::string_view(one->name).starts_with("MPS")) {
    fail(Fault::not_implemented,
         fmt::format("{}: {} is Apple's own code of MetalPerformanceShaders, which is not available here; Metalloid "
                     "runs kernels from their Metal source",
                     described(one, selector->name), one->name));
  }
  raise_exception(Fault::not_implemented, "NSInvalidArgumentException",
                  fmt::format("{}: unrecognized selector sent to {} {}{}", described(one, selector->name),
                              one->info & is_metaclass ? "class" : "instance", receiver,
                              is_own(one) ? ": Metalloid does not have this method" : ""));
}

namespace {

struct Cached {
  const Class* one;
  const char* name;
  Method code;
};
struct Cache {
  std::uint64_t changes = 0;
  std::array<Cached, 512> entries = {};
};
thread_local Cache cache;

// Where the result has its place in the first register forwarding looks for the receiver in the second.
Method in_memory(Method code) { return code == &metalloid_forward ? &metalloid_forward_stret : code; }

unsigned long info_of(Class* one) { return std::atomic_ref(one->info).load(std::memory_order_acquire); }

void initialise_now(Class* one);

// Before a class's first message.
void initialise(Class* one) {
  if (!(info_of(one) & is_initialised)) initialise_now(one);
}

// Its superclass first. Other threads wait, the same one goes on.
void initialise_now(Class* one) {
  const std::atomic_ref info(one->info);
  static std::recursive_mutex& mutex = *new std::recursive_mutex;
  const std::lock_guard lock(mutex);
  if (info.fetch_or(is_initialising) & is_initialising) return;
  if (one->super) initialise(one->super);
  static Selector* const selector = registered_selector("initialize");
  if (const MethodEntry* found = method_of(one->isa, selector->name)) found->code(one, selector);
  info.fetch_or(is_initialised, std::memory_order_release);
}

Method lookup(Class* one, const char* name) {
  const std::uint64_t now = changes();
  if (cache.changes != now) cache = {now, {}};
  const auto mixed = reinterpret_cast<std::uintptr_t>(one) / 16 * 31 + reinterpret_cast<std::uintptr_t>(name);
  Cached& entry = cache.entries[(mixed ^ mixed >> 9) % cache.entries.size()];
  if (entry.one != one || entry.name != name) {
    const MethodEntry* found = method_of(one, name);
    entry = {one, name, found ? found->code : &metalloid_forward};
  }
  return entry.code;
}

}  // namespace

namespace {

// None: it is no object.
Class* class_at(void* address) {
  if (metal::is_object(address)) {
    auto* one = static_cast<Class*>(static_cast<metal::Object*>(address)->isa);
    if (!one) fail(Fault::type, fmt::format("a message to {}, an object that is gone", address));
    return one;
  }
  if (is_constant(address)) return *static_cast<Class**>(address);
  if (const auto memory_at = metal::host().memory_at; memory_at && memory_at(address)) {
    static Class* const buffers = class_named("MetalloidBuffer");
    return buffers;
  }
  if (is_block_class(*static_cast<void**>(address))) {
    static Class* const blocks = class_named("MetalloidBlock");
    return blocks;
  }
  return nullptr;
}

}  // namespace

Class* class_of(void* receiver) {
  if (Class* one = class_at(receiver)) return one;
  fail(Fault::type, fmt::format("a message to {}, which is no object{}", receiver,
                                metal::host().memory_at ? " and no tensor's memory on mps" : ""));
}

bool is_receiver(void* address) { return class_at(address) != nullptr; }

bool responds(void* receiver, const char* name) { return lookup(class_of(receiver), name) != &metalloid_forward; }

bool is_kind(const Class* one, const Class* kind) {
  for (; one; one = one->super) {
    if (one == kind) return true;
  }
  return false;
}

}  // namespace metalloid::objective_c

namespace metalloid::metal {

void* class_of_name(const char* name) { return objective_c::class_named(name); }

void refuse_handle(const void* handle, void* wanted) {
  using objective_c::Class;
  const char* name = objective_c::name_of(static_cast<const Class*>(wanted));
  if (!is_object(handle)) fail(Fault::type, fmt::format("{} is no {}", handle, name));
  fail(Fault::type, fmt::format("a {} is wanted here, not a {}", name,
                                objective_c::name_of(objective_c::class_of(const_cast<void*>(handle)))));
}

}  // namespace metalloid::metal

using namespace metalloid::objective_c;

extern "C" {

Method objc_msg_lookup(void* receiver, Selector* selector) {
  if (!receiver) return reinterpret_cast<Method>(reinterpret_cast<void*>(&answer_of_nil));
  Class* one = class_of(receiver);
  initialise(info_of(one) & is_metaclass ? static_cast<Class*>(receiver) : one);
  return lookup(one, selector->name);
}

// Results in memory: a message to nil leaves them as the compiler made them.
Method objc_msg_lookup_stret(void* receiver, Selector* selector) {
  return in_memory(objc_msg_lookup(receiver, selector));
}

Method objc_msg_lookup_super(Super* super, Selector* selector) {
  if (!super->receiver) return reinterpret_cast<Method>(reinterpret_cast<void*>(&answer_of_nil));
  return lookup(super->super, selector->name);
}

Method objc_msg_lookup_super_stret(Super* super, Selector* selector) {
  return in_memory(objc_msg_lookup_super(super, selector));
}

}  // extern "C"
