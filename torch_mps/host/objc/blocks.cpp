// Blocks (^{ ... }): literals on the stack, copies of them, and the variables that they share (__block). The layout is
// that of Clang's block ABI.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "host/dispatch_queue.h"
#include "runtime.h"

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

void send(void* object, const char* name) {
  if (!object) return;
  Selector selector = {unique_name(name), nullptr};
  objc_msg_lookup(object, &selector)(object, &selector);
}

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

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void* _NSConcreteStackBlock[32] = {};
EXPORTED void* _NSConcreteGlobalBlock[32] = {};
EXPORTED void* _NSConcreteMallocBlock[32] = {};

EXPORTED void* _Block_copy(const void* literal) {
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

EXPORTED void _Block_release(const void* literal) {
  auto* block = static_cast<Block*>(const_cast<void*>(literal));
  if (!block || !(block->flags & needs_free) || !drop(block->flags)) return;
  if (block->flags & has_copy_dispose) block->descriptor->dispose(block);
  std::free(block);
}

EXPORTED void _Block_object_assign(void* place, const void* object, int flags) {
  void* value = const_cast<void*>(object);
  if (!(flags & byref_caller)) {
    if ((flags & 0xf) == field_is_byref) {
      value = share(static_cast<Shared*>(value));
    } else if ((flags & 0xf) == field_is_block) {
      value = _Block_copy(value);
    } else if ((flags & 0xf) == field_is_object) {
      send(value, "retain");
    }
  }
  *static_cast<void**>(place) = value;
}

EXPORTED void _Block_object_dispose(const void* object, int flags) {
  void* value = const_cast<void*>(object);
  if (flags & byref_caller) return;
  if ((flags & 0xf) == field_is_byref) {
    unshare(static_cast<Shared*>(value));
  } else if ((flags & 0xf) == field_is_block) {
    _Block_release(value);
  } else if ((flags & 0xf) == field_is_object) {
    send(value, "release");
  }
}

static void invoke(void* literal) {
  auto* block = static_cast<Block*>(literal);
  reinterpret_cast<void (*)(void*)>(block->invoke)(block);
}

EXPORTED void dispatch_sync(dispatch_queue_t queue, void* block) { dispatch_sync_f(queue, block, invoke); }
EXPORTED void dispatch_async(dispatch_queue_t queue, void* block) { dispatch_async_f(queue, block, invoke); }
EXPORTED void dispatch_apply(size_t count, dispatch_queue_t queue, void* block) {
  dispatch_apply_f(count, queue, block, [](void* context, size_t turn) {
    using Invoke = void (*)(void*, size_t);
    reinterpret_cast<Invoke>(static_cast<Block*>(context)->invoke)(context, turn);
  });
}
EXPORTED void dispatch_once(dispatch_once_t* predicate, void* block) { dispatch_once_f(predicate, block, invoke); }

}  // extern "C"
