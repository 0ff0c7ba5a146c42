// An Objective-C runtime: message dispatch over what `clang -fobjc-runtime=objfw` emits.
//
// It is our own because an `id` need not be an object here. PyTorch's headers cast the address of a tensor's storage to
// `id<MTLBuffer>`; on a Mac that is the address of a buffer object, and on the device mps it is the memory itself.
// Messages to such an address reach the class that stands for buffers (Host::memory_at).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace metalloid::metal {
struct Object;
enum class Fault : std::uint8_t;
}  // namespace metalloid::metal

namespace metalloid::objective_c {

// As the compiler lays them out (GNU ABI, version 9: offsets of variables are the runtime's).
struct Selector {
  const char* name;  // one address for each name, once the module is loaded
  const char* types;
};
using Method = void* (*)(void*, Selector*, ...);
struct MethodEntry {
  const char* name;
  const char* types;
  Method code;
};
struct MethodList {
  MethodList* next;
  int count;
  MethodEntry methods[];
};
struct Variables {
  int count;
  struct {
    const char* name;
    const char* types;
    int offset;  // behind the superclass's, until the class is loaded
  } entries[];
};
struct Class {
  Class* isa;
  Class* super;  // its name, until the module is loaded
  const char* name;
  long version;
  unsigned long info;
  long instance_size;  // negative, without the superclass's, until the class is loaded
  Variables* variables;
  MethodList* methods;
  void* table;  // ours: what the class answers to
  Class* first_subclass;
  Class* next_sibling;
  void* protocols;
  void* gc_type;
  long abi;
  int** offsets;  // of variables, for code
};
struct Category {
  const char* name;
  const char* class_name;
  MethodList* instance_methods;
  MethodList* class_methods;
  void* protocols;
};
struct StaticInstances {
  const char* class_name;
  void* instances[];  // ends with null
};
struct SymbolTable {
  unsigned long selector_count;
  Selector* selectors;
  unsigned short class_count, category_count;
  void* definitions[];  // classes, categories, then a list of StaticInstances
};
struct Module {
  unsigned long version, size;
  const char* name;
  SymbolTable* symbols;
};

// Of a class's info. The last ones are ours: it has variables of C++, or strong ones of automatic counting; its
// +initialize has begun, and has ended.
inline constexpr unsigned long is_class = 1, is_metaclass = 2, has_construct = 1ul << 40, has_destruct = 1ul << 41,
                               is_initialising = 1ul << 42, is_initialised = 1ul << 43;

struct Super {
  void* receiver;
  Class* super;
};

// Of a literal's layout: flags as in Apple's block ABI.
struct Block {
  void* isa;
  int flags, reserved;
  void* invoke;
  struct Descriptor {
    unsigned long reserved, size;
    void (*copy)(void*, const void*);
    void (*dispose)(const void*);
  }* descriptor;
};

inline bool is_block_class(const void* isa);

// loader.cpp: what modules bring.
Class* class_named(const char* name);       // none: null
const char* unique_name(const char* name);  // of a selector: one address for equal names
Selector* registered_selector(const char* name);
const char* name_of(const Class* one);  // for people: a protocol's, where ours stands for one
bool is_constant(const void* address);  // a class, a literal, or what was added
void add_constant(void** object, Class* one);
const MethodEntry* method_of(const Class* one, const char* unique_name);  // or its superclasses'; none: null
const MethodEntry* own_method(const Class* one, const char* unique_name);
std::uint64_t changes();                           // grows with each class and method
Class* add_class(Class* super, const char* name);  // none: the name is taken
bool add_method(Class* to, const char* name, Method code, const char* types);

// lookup.cpp
Class* class_of(void* receiver);  // of any address that a message may be sent to
bool is_receiver(void* address);  // class_of knows it
bool responds(void* receiver, const char* unique_name);
[[noreturn]] void refuse(void* receiver, Selector* selector);  // nobody answers
bool is_kind(const Class* one, const Class* kind);

// instances.cpp
void* create_instance(Class* one);
void destroy_instance(void* object);      // its variables, then its memory
void forget_weak(metal::Object& object);  // places that refer to it weakly become null

// pools.cpp
void* push_pool();
void pop_pool(void* pool);
void autorelease(void* object);

// exceptions.cpp: what the library itself raises, as the host's exception or as one of Foundation's, which says how
// these are made.
using ExceptionMaker = void* (*)(const char* name, const std::string& reason);
void set_exception_maker(ExceptionMaker make);
[[noreturn]] void raise_exception(metal::Fault fault, const char* name, const std::string& reason);

// Sends a message without arguments.
void* send(void* receiver, Selector& selector);

}  // namespace metalloid::objective_c

// Of what leaves the library those that it calls itself.
extern "C" {
extern void* _NSConcreteStackBlock[32];
extern void* _NSConcreteGlobalBlock[32];
extern void* _NSConcreteMallocBlock[32];
void* _Block_copy(const void* block);
void _Block_release(const void* block);
void __objc_exec_class(metalloid::objective_c::Module* module);
metalloid::objective_c::Method objc_msg_lookup(void* receiver, metalloid::objective_c::Selector* selector);
metalloid::objective_c::Method objc_msg_lookup_stret(void* receiver, metalloid::objective_c::Selector* selector);
void* objc_retain(void* object);
void objc_release(void* object);
}

inline bool metalloid::objective_c::is_block_class(const void* isa) {
  return isa == _NSConcreteStackBlock || isa == _NSConcreteGlobalBlock || isa == _NSConcreteMallocBlock;
}
