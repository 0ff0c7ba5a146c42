#include "runtime.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/memory.h"
#include "host/metal_objects.h"

namespace metalloid::objective_c {
namespace {

using torch_host::Kind;
using torch_host::Object;

using Methods = std::unordered_map<const char*, Method>;  // by the name's one address

// Everything that was loaded. Modules may come and go from any thread.
struct State {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> names;            // of selectors
  std::map<std::string, Class*, std::less<>> classes;  // whose superclass is known
  std::vector<Class*> waiting;                         // for their superclass
  std::vector<Category*> categories;                   // for their class
  std::unordered_set<const void*> constants;           // classes and literals, which lie in no range of ours
  std::vector<void**> literals;                        // for the class of strings
  std::atomic<std::uint64_t> changes = 1;              // caches of lookups are for one of them
};

State& state() {
  static State& instance = *new State;
  return instance;
}

const char* one_name(State& all, const char* name) { return all.names.emplace(name).first->c_str(); }

Methods& methods_of(Class* one) {
  if (!one->table) one->table = new Methods;
  return *static_cast<Methods*>(one->table);
}

void add_methods(State& all, Class* to, const MethodList* list) {
  for (; list; list = list->next) {
    for (int i = 0; i < list->count; ++i) {
      methods_of(to)[one_name(all, list->methods[i].name)] = list->methods[i].code;
    }
  }
}

// The first with the name stays, as with C++'s own symbols.
bool link_class(State& all, Class* one) {
  if (all.classes.contains(one->name)) return true;
  Class* super = nullptr;
  if (one->super) {
    const auto found = all.classes.find(reinterpret_cast<const char*>(one->super));
    if (found == all.classes.end()) return false;
    super = found->second;
  }
  one->super = super;
  one->isa->super = super ? super->isa : one;  // a root's class messages fall back to its instances' methods
  one->isa->isa = super ? super->isa : one->isa;
  if (one->instance_size <= 0) {
    const long before = super ? super->instance_size : 0;
    one->instance_size = before - one->instance_size;
    for (int i = 0; one->variables && i < one->variables->count; ++i) {
      one->variables->entries[i].offset += static_cast<int>(before);
      *one->offsets[i] = one->variables->entries[i].offset;
    }
  }
  add_methods(all, one, one->methods);
  add_methods(all, one->isa, one->isa->methods);
  all.constants.insert(one);
  all.classes.emplace(one->name, one);
  return true;
}

Method method_of(const Class* one, const char* name) {
  for (; one; one = one->super) {
    if (!one->table) continue;
    const auto& methods = *static_cast<const Methods*>(one->table);
    if (const auto found = methods.find(name); found != methods.end()) return found->second;
  }
  return nullptr;
}

// Zero in every register that a result may come in.
struct Nothing {
  long integer;
  double real;
};
Nothing answer_of_nil(void*, Selector*) { return {0, 0}; }

constexpr std::array<const char*, static_cast<std::size_t>(Kind::count)> class_names = {"NSObject",
                                                                                        "MetalloidDevice",
                                                                                        "MetalloidLibrary",
                                                                                        "MetalloidFunction",
                                                                                        "MetalloidPipelineState",
                                                                                        "MetalloidBuffer",
                                                                                        "MetalloidCommandQueue",
                                                                                        "MetalloidCommandBuffer",
                                                                                        "MetalloidComputeEncoder",
                                                                                        "MTLCompileOptions"};

Class* class_of_object(Object* object) {
  if (!object->isa) object->isa = class_named(class_names.at(static_cast<std::size_t>(object->kind)));
  return static_cast<Class*>(object->isa);
}

Class* class_of(void* receiver) {
  if (torch_host::is_object(receiver)) return class_of_object(static_cast<Object*>(receiver));
  {
    State& all = state();
    const std::shared_lock lock(all.mutex);
    if (all.constants.contains(receiver)) return *static_cast<Class**>(receiver);
  }
  if (torch_device::allocation_at(receiver)) return class_named("MetalloidBuffer");
  if (is_block_class(*static_cast<void**>(receiver))) return class_named("MetalloidBlock");
  TORCH_CHECK_TYPE(false, "a message to ", receiver, ", which is no object and no tensor's memory on mps");
}

// "-[MTLBuffer foo]"
std::string described(const Class* one, const char* selector) {
  const bool of_class = one->info & is_metaclass;
  return std::string(of_class ? "+[" : "-[") + name_of(one) + " " + selector + "]";
}

void* refuse(void* receiver, Selector* selector, ...) {
  const Class* one = class_of(receiver);
  const std::string_view name = one->name;
  TORCH_CHECK_NOT_IMPLEMENTED(!name.starts_with("MPS"), described(one, selector->name), ": ", name,
                              " is Apple's own code of MetalPerformanceShaders, which is not available here; Metalloid "
                              "runs kernels from their Metal source");
  TORCH_CHECK_NOT_IMPLEMENTED(false, described(one, selector->name), ": Metalloid does not have this method");
}

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

Method lookup(Class* one, const char* name) {
  const std::uint64_t changes = state().changes.load(std::memory_order_acquire);
  if (cache.changes != changes) cache = {changes, {}};
  const auto mixed = reinterpret_cast<std::uintptr_t>(one) / 16 * 31 + reinterpret_cast<std::uintptr_t>(name);
  Cached& entry = cache.entries[(mixed ^ mixed >> 9) % cache.entries.size()];
  if (entry.one != one || entry.name != name) {
    const std::shared_lock lock(state().mutex);
    const Method found = method_of(one, name);
    entry = {one, name, found ? found : &refuse};
  }
  return entry.code;
}

}  // namespace

Class* class_named(const char* name) {
  State& all = state();
  const std::shared_lock lock(all.mutex);
  const auto found = all.classes.find(std::string_view(name));
  return found == all.classes.end() ? nullptr : found->second;
}

const char* unique_name(const char* name) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  return one_name(all, name);
}

const char* name_of(const Class* one) {
  // Ours stand for Metal's protocols.
  static const std::map<std::string_view, const char*> protocols = {
      {"MetalloidDevice", "MTLDevice"},
      {"MetalloidLibrary", "MTLLibrary"},
      {"MetalloidFunction", "MTLFunction"},
      {"MetalloidPipelineState", "MTLComputePipelineState"},
      {"MetalloidBuffer", "MTLBuffer"},
      {"MetalloidCommandQueue", "MTLCommandQueue"},
      {"MetalloidCommandBuffer", "MTLCommandBuffer"},
      {"MetalloidComputeEncoder", "MTLComputeCommandEncoder"},
      {"MetalloidBlitEncoder", "MTLBlitCommandEncoder"}};
  const auto found = protocols.find(one->name);
  return found == protocols.end() ? one->name : found->second;
}

}  // namespace metalloid::objective_c

using namespace metalloid::objective_c;

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

// Every module calls it when its library is loaded.
EXPORTED void __objc_exec_class(Module* module) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  SymbolTable& symbols = *module->symbols;
  for (unsigned long i = 0; i < symbols.selector_count; ++i) {
    if (symbols.selectors[i].name) symbols.selectors[i].name = one_name(all, symbols.selectors[i].name);
  }
  void** next = symbols.definitions;
  for (unsigned i = 0; i < symbols.class_count; ++i) all.waiting.push_back(static_cast<Class*>(*next++));
  for (unsigned i = 0; i < symbols.category_count; ++i) all.categories.push_back(static_cast<Category*>(*next++));
  if (auto* lists = static_cast<StaticInstances**>(*next)) {
    for (; *lists; ++lists) {
      if (std::string_view((*lists)->class_name) == "Protocol") continue;
      for (void** one = (*lists)->instances; *one; ++one) {
        all.constants.insert(*one);
        all.literals.push_back(static_cast<void**>(*one));
      }
    }
  }
  for (bool linked = true; linked;)
    linked = std::erase_if(all.waiting, [&](Class* one) { return link_class(all, one); });
  std::erase_if(all.categories, [&](const Category* one) {
    const auto found = all.classes.find(std::string_view(one->class_name));
    if (found == all.classes.end()) return false;
    add_methods(all, found->second, one->instance_methods);
    add_methods(all, found->second->isa, one->class_methods);
    return true;
  });
  if (const auto strings = all.classes.find(std::string_view("NSConstantString")); strings != all.classes.end()) {
    for (void** literal : all.literals) *literal = strings->second;
    all.literals.clear();
  }
  all.changes.fetch_add(1, std::memory_order_release);
}

EXPORTED Method objc_msg_lookup(void* receiver, Selector* selector) {
  if (!receiver) return reinterpret_cast<Method>(&answer_of_nil);
  return lookup(class_of(receiver), selector->name);
}

// Results in memory: a message to nil leaves them as the compiler made them.
EXPORTED Method objc_msg_lookup_stret(void* receiver, Selector* selector) {
  return objc_msg_lookup(receiver, selector);
}

struct Super {
  void* receiver;
  Class* super;
};
EXPORTED Method objc_msg_lookup_super(Super* super, Selector* selector) {
  if (!super->receiver) return reinterpret_cast<Method>(&answer_of_nil);
  return lookup(super->super, selector->name);
}

EXPORTED Method objc_msg_lookup_super_stret(Super* super, Selector* selector) {
  return objc_msg_lookup_super(super, selector);
}

EXPORTED Class* objc_lookup_class(const char* name) {
  Class* one = class_named(name);
  TORCH_CHECK_NOT_IMPLEMENTED(one, "there is no Objective-C class ", name,
                              std::string_view(name).starts_with("MPS")
                                  ? ": it is Apple's own code of MetalPerformanceShaders, which is not available here"
                                  : " in Metalloid's Foundation and Metal");
  return one;
}
EXPORTED Class* objc_get_class(const char* name) { return objc_lookup_class(name); }
EXPORTED Class* objc_getClass(const char* name) { return class_named(name); }
EXPORTED Class* object_getClass(void* object) { return object ? class_of(object) : nullptr; }
EXPORTED const char* class_getName(Class* one) { return one ? name_of(one) : "nil"; }
EXPORTED Class* class_getSuperclass(Class* one) { return one->super; }
EXPORTED const char* sel_getName(Selector* selector) { return selector->name; }

EXPORTED void objc_enumerationMutation(void*) {
  TORCH_CHECK(false, "a collection was changed while it was enumerated");
}

// @synchronized: one lock, since few pieces of host code have any.
std::recursive_mutex& synchronized = *new std::recursive_mutex;
EXPORTED int objc_sync_enter(void*) { return synchronized.lock(), 0; }
EXPORTED int objc_sync_exit(void*) { return synchronized.unlock(), 0; }

EXPORTED void objc_exception_throw(void*) { TORCH_CHECK(false, "Objective-C exceptions are not available here"); }

// Host files have C++'s exceptions only, whose tables are the same.
int __gxx_personality_v0(int, int, std::uint64_t, void*, void*);
EXPORTED int __gnu_objc_personality_v0(int version, int actions, std::uint64_t language, void* exception,
                                       void* context) {
  return __gxx_personality_v0(version, actions, language, exception, context);
}

}  // extern "C"

bool metalloid::objective_c::responds(void* receiver, const char* name) {
  return lookup(class_of(receiver), name) != &refuse;
}
