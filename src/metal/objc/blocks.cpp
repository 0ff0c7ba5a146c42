// Blocks (^{ ... }): literals on the stack, copies of them, and the variables that they share (__block). The layout is
// that of Clang's block ABI.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "metal/objc/runtime.h"

namespace metalloid::objective_c {
namespace {

constexpr int reference_count = 0xfffe, one_reference = 2;  // of flags
constexpr int needs_free = 1 << 24, has_copy_dispose = 1 << 25, is_global = 1 << 28;
constexpr int field_is_object = 3, field_is_block = 7, field_is_byref = 8, byref_caller = 128;

// A __block variable.
struct Shared {
  void* isa;
  Shared* forwarding;
  int flags, size;
  void (*keep)(Shared*, Shared*);  // where flags have has_copy_dispose
  void (*destroy)(Shared*);
};

int& add(int& flags, int change) {
  std::atomic_ref(flags).fetch_add(change);
  return flags;
}
bool drop(int& flags) { return (std::atomic_ref(flags).fetch_sub(one_reference) & reference_count) == one_reference; }

Shared* share(Shared* source) {
  Shared* variable = source->forwarding;
  if (variable->flags & needs_free) {
    add(variable->flags, one_reference);
    return variable;
  }
  auto* copy = static_cast<Shared*>(std::malloc(static_cast<std::size_t>(variable->size)));
  if (!copy) throw std::bad_alloc();
  std::memcpy(static_cast<void*>(copy), variable, static_cast<std::size_t>(variable->size));
  copy->flags = variable->flags | needs_free | 2 * one_reference;  // the block's, and the frame's
  copy->forwarding = variable->forwarding = copy;
  if (variable->flags & has_copy_dispose) copy->keep(copy, variable);
  return copy;
}

void unshare(Shared* source) {
  Shared* variable = source->forwarding;
  if (!(variable->flags & needs_free) || !drop(variable->flags)) return;
  if (variable->flags & has_copy_dispose) variable->destroy(variable);
  std::free(variable);
}

}  // namespace
}  // namespace metalloid::objective_c

using namespace metalloid::objective_c;

extern "C" {

void* _NSConcreteStackBlock[32] = {};
void* _NSConcreteGlobalBlock[32] = {};
void* _NSConcreteMallocBlock[32] = {};

void* _Block_copy(const void* literal) {
  auto* block = static_cast<Block*>(const_cast<void*>(literal));
  if (!block || block->flags & is_global) return block;
  if (block->flags & needs_free) {
    add(block->flags, one_reference);
    return block;
  }
  auto* copy = static_cast<Block*>(std::malloc(block->descriptor->size));
  if (!copy) throw std::bad_alloc();
  std::memcpy(static_cast<void*>(copy), block, block->descriptor->size);
  copy->isa = _NSConcreteMallocBlock;
  copy->flags = (block->flags & ~reference_count) | needs_free | one_reference;
  if (block->flags & has_copy_dispose) block->descriptor->copy(copy, block);
  return copy;
}

void _Block_release(const void* literal) {
  auto* block = static_cast<Block*>(const_cast<void*>(literal));
  if (!block || !(block->flags & needs_free) || !drop(block->flags)) return;
  if (block->flags & has_copy_dispose) block->descriptor->dispose(block);
  std::free(block);
}

void _Block_object_assign(void* place, const void* object, int flags) {
  void* value = const_cast<void*>(object);
  if (!(flags & byref_caller)) {
    if ((flags & 0xf) == field_is_byref) {
      value = share(static_cast<Shared*>(value));
    } else if ((flags & 0xf) == field_is_block) {
      value = _Block_copy(value);
    } else if ((flags & 0xf) == field_is_object) {
      objc_retain(value);
    }
  }
  *static_cast<void**>(place) = value;
}

void _Block_object_dispose(const void* object, int flags) {
  void* value = const_cast<void*>(object);
  if (flags & byref_caller) return;
  if ((flags & 0xf) == field_is_byref) {
    unshare(static_cast<Shared*>(value));
  } else if ((flags & 0xf) == field_is_block) {
    _Block_release(value);
  } else if ((flags & 0xf) == field_is_object) {
    objc_release(value);
  }
}

}  // extern "C"
