// What every object of Objective-C begins with, as C++ makes and counts them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace metalloid::metal {

// Begins every object. Objects lie in a range of addresses of their own: where a host says so, an `id<MTLBuffer>` may
// as well be the address of memory (metal/host.h).
struct Object {
  void* isa = nullptr;  // Objective-C's class
  std::atomic<std::uint32_t> references = 1;
  std::atomic<std::uint32_t> flags = 0;  // the runtime's own
  void (*destroy)(Object*) = nullptr;    // dealloc
};

// Zeroed. Throws std::bad_alloc.
void* allocate_object(std::size_t size);
void free_object(void* object, std::size_t size) noexcept;
bool is_object(const void* address) noexcept;
void* class_of_name(const char* name);

template <typename T>
void* class_of_type() {
  static void* const one = class_of_name(T::class_name);
  return one;
}

template <typename T, typename... Arguments>
T* make_object(Arguments&&... arguments) {
  void* memory = allocate_object(sizeof(T));
  T* object;
  try {
    object = new (memory) T(std::forward<Arguments>(arguments)...);
  } catch (...) {
    free_object(memory, sizeof(T));
    throw;
  }
  object->isa = class_of_type<T>();
  object->destroy = [](Object* self) {
    static_cast<T*>(self)->~T();
    free_object(self, sizeof(T));
  };
  return object;
}

template <typename T>
T* retain(T* object) noexcept {
  if (object) object->references.fetch_add(1, std::memory_order_relaxed);
  return object;
}
void release(Object* object) noexcept;

// The object behind a handle; none for a null handle. Anything else is a Fault::type.
void refuse_handle(const void* handle, void* wanted);
template <typename T>
T* object_of(const void* handle) {
  if (handle && (!is_object(handle) || static_cast<const Object*>(handle)->isa != class_of_type<T>())) {
    refuse_handle(handle, class_of_type<T>());
  }
  return static_cast<T*>(const_cast<void*>(handle));
}

}  // namespace metalloid::metal
