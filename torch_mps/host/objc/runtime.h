// An Objective-C runtime for host files: message dispatch over what `clang -fobjc-runtime=objfw` emits.
//
// It is our own because an `id` need not be an object here. PyTorch's headers cast the address of a tensor's storage to
// `id<MTLBuffer>`; on a Mac that is the address of a buffer object, and on this device it is the memory itself.
// Messages to such an address reach the class that stands for buffers.
#pragma once

#include <cstddef>
#include <cstdint>

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

inline constexpr unsigned long is_class = 1, is_metaclass = 2;

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
Class* class_named(const char* name);       // none: null
const char* unique_name(const char* name);  // of a selector
const char* name_of(const Class* one);
bool responds(void* receiver, const char* unique_name);

}  // namespace metalloid::objective_c

extern "C" {
extern void* _NSConcreteStackBlock[32];
extern void* _NSConcreteGlobalBlock[32];
extern void* _NSConcreteMallocBlock[32];
void* _Block_copy(const void* block);
void _Block_release(const void* block);
void __objc_exec_class(metalloid::objective_c::Module* module);
metalloid::objective_c::Method objc_msg_lookup(void* receiver, metalloid::objective_c::Selector* selector);
}

inline bool metalloid::objective_c::is_block_class(const void* isa) {
  return isa == _NSConcreteStackBlock || isa == _NSConcreteGlobalBlock || isa == _NSConcreteMallocBlock;
}
