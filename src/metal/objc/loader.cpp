// What modules bring when their libraries are loaded: classes, categories, names of selectors, literals.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "metal/objc/runtime.h"
#include "metalloid/metal/object.h"

namespace metalloid::objective_c {
namespace {

using Methods = std::unordered_map<const char*, MethodEntry>;  // by the name's one address

// Everything that was loaded. Modules may come and go from any thread.
struct State {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> names;                              // of selectors
  std::unordered_map<const char*, std::unique_ptr<Selector>> selectors;  // that were asked for by name
  std::map<std::string, Class*, std::less<>> classes;                    // whose superclass is known
  std::vector<Class*> waiting;                                           // for their superclass
  std::vector<Category*> categories;                                     // for their class
  std::unordered_set<const void*> constants;  // classes and literals, which lie in no range of ours
  std::vector<void**> literals;               // for the class of strings
  std::atomic<std::uint64_t> changes = 1;     // caches of lookups are for one of them
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

// What a structure of our own is within the library is a bool to programs (objc/objc.h).
const char* types_for_programs(State& all, const char* types) {
  constexpr std::string_view own = "{BOOL=i}";
  if (!types || std::string_view(types).find(own) == std::string_view::npos) return types;
  std::string text = types;
  for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos;) text.replace(at, own.size(), "B");
  return one_name(all, text.c_str());
}

void add_methods(State& all, Class* to, const MethodList* list) {
  for (; list; list = list->next) {
    for (int i = 0; i < list->count; ++i) {
      const MethodEntry& one = list->methods[i];
      const char* name = one_name(all, one.name);
      methods_of(to)[name] = {name, types_for_programs(all, one.types), one.code};
      if (std::string_view(name) == ".cxx_construct") to->info |= has_construct;
      if (std::string_view(name) == ".cxx_destruct") to->info |= has_destruct;
    }
  }
}

void join(Class* one, Class* super) {
  one->super = super;
  one->isa->super = super ? super->isa : one;  // a root's class messages fall back to its instances' methods
  one->isa->isa = super ? super->isa : one->isa;
}

// What +load is, of classes and categories that have come.
struct Load {
  Class* one;
  Method code;
};

void add_load(std::vector<Load>& loads, Class* of, const MethodList* list) {
  for (; list; list = list->next) {
    for (int i = 0; i < list->count; ++i) {
      if (std::string_view(list->methods[i].name) == "load") loads.push_back({of, list->methods[i].code});
    }
  }
}

// The first with the name stays, as with C++'s own symbols.
bool link_class(State& all, Class* one, std::vector<Load>& loads) {
  if (all.classes.contains(one->name)) return true;
  Class* super = nullptr;
  if (one->super) {
    const auto found = all.classes.find(reinterpret_cast<const char*>(one->super));
    if (found == all.classes.end()) return false;
    super = found->second;
  }
  join(one, super);
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
  add_load(loads, one, one->isa->methods);
  return true;
}

std::vector<Load> take_module(State& all, const Module& module) {
  std::vector<Load> loads;
  SymbolTable& symbols = *module.symbols;
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
  for (bool linked = true; linked;) {
    linked = std::erase_if(all.waiting, [&](Class* one) { return link_class(all, one, loads); });
  }
  std::erase_if(all.categories, [&](const Category* one) {
    const auto found = all.classes.find(std::string_view(one->class_name));
    if (found == all.classes.end()) return false;
    add_methods(all, found->second, one->instance_methods);
    add_methods(all, found->second->isa, one->class_methods);
    add_load(loads, found->second, one->class_methods);
    return true;
  });
  if (const auto strings = all.classes.find(std::string_view("NSConstantString")); strings != all.classes.end()) {
    for (void** literal : all.literals) *literal = strings->second;
    all.literals.clear();
  }
  return loads;
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

Selector* registered_selector(const char* name) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  const char* one = one_name(all, name);
  std::unique_ptr<Selector>& selector = all.selectors[one];
  if (!selector) selector = std::make_unique<Selector>(Selector{one, nullptr});
  return selector.get();
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

bool is_constant(const void* address) {
  State& all = state();
  const std::shared_lock lock(all.mutex);
  return all.constants.contains(address);
}

void add_constant(void** object, Class* one) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  *object = one;
  all.constants.insert(object);
}

const MethodEntry* method_of(const Class* one, const char* name) {
  const std::shared_lock lock(state().mutex);
  for (; one; one = one->super) {
    if (!one->table) continue;
    const auto& methods = *static_cast<const Methods*>(one->table);
    if (const auto found = methods.find(name); found != methods.end()) return &found->second;
  }
  return nullptr;
}

const MethodEntry* own_method(const Class* one, const char* name) {
  const std::shared_lock lock(state().mutex);
  if (!one->table) return nullptr;
  const auto& methods = *static_cast<const Methods*>(one->table);
  const auto found = methods.find(name);
  return found == methods.end() ? nullptr : &found->second;
}

std::uint64_t changes() { return state().changes.load(std::memory_order_acquire); }

Class* add_class(Class* super, const char* name) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  if (all.classes.contains(std::string_view(name))) return nullptr;
  const char* kept = one_name(all, name);
  auto* one = new Class{};
  auto* meta = new Class{};
  one->isa = meta;
  one->name = meta->name = kept;
  one->info = is_class;
  meta->info = is_metaclass;
  one->instance_size = super ? super->instance_size : static_cast<long>(sizeof(metal::Object));
  meta->instance_size = sizeof(Class);
  join(one, super);
  all.constants.insert(one);
  all.classes.emplace(kept, one);
  all.changes.fetch_add(1, std::memory_order_release);
  return one;
}

bool add_method(Class* to, const char* name, Method code, const char* types) {
  State& all = state();
  const std::unique_lock lock(all.mutex);
  const char* one = one_name(all, name);
  const bool added = methods_of(to).try_emplace(one, MethodEntry{one, types ? one_name(all, types) : "", code}).second;
  all.changes.fetch_add(1, std::memory_order_release);
  return added;
}

}  // namespace metalloid::objective_c

// Every module calls it when its library is loaded.
void __objc_exec_class(metalloid::objective_c::Module* module) {
  using namespace metalloid::objective_c;
  State& all = state();
  std::vector<Load> loads;
  {
    const std::unique_lock lock(all.mutex);
    loads = take_module(all, *module);
  }
  all.changes.fetch_add(1, std::memory_order_release);
  static Selector* const load = registered_selector("load");
  for (const Load& one : loads) one.code(one.one, load);
}
