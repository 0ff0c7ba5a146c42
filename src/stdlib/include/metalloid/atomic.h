// Atomics (MSL spec §6.15): atomic<T> and the *_explicit functions on device and threadgroup memory. Beyond the
// specification float has them all, in both memories. 64-bit atomics have a maximum and a minimum of ulong only.
#ifndef METALLOID_ATOMIC_H
#define METALLOID_ATOMIC_H

#include <metalloid/synchronization.h>
#include <metalloid/type_traits.h>

namespace metal {

template <typename T>
struct atomic {
  using value_type = T;
  T __value;
};

// Under the name that Metal's own headers have for it.
template <typename T>
using _atomic = atomic<T>;

}  // namespace metal

namespace __metalloid {

template <typename T>
struct exactly {
  using type = T;
};
template <typename T>
using exactly_t = typename exactly<T>::type;

}  // namespace __metalloid

// The object's plain value, in its own memory; and as C's atomic type, which takes operands of any type by value.
#define METALLOID_PLACE(space) const_cast<space T*>(&object->__value)
#define METALLOID_ATOMIC_PLACE(space) reinterpret_cast<space _Atomic(T)*>(METALLOID_PLACE(space))

// Says at the call what Metal has not.
#define METALLOID_UP_TO_32_BITS(name) \
  __attribute__((diagnose_if(sizeof(T) > 4, #name " is not available for 64-bit types in Metal", "error")))

#define METALLOID_ATOMIC_FETCH(space, name, builtin)                                                             \
  template <typename T>                                                                                          \
  METALLOID_FUNC T name(volatile space atomic<T>* object, __metalloid::exactly_t<T> operand, memory_order order) \
      METALLOID_UP_TO_32_BITS(name) {                                                                            \
    return builtin(METALLOID_PLACE(space), operand, order);                                                      \
  }

#define METALLOID_ATOMIC_FUNCTIONS(space)                                                                            \
  template <typename T>                                                                                              \
  METALLOID_FUNC void atomic_store_explicit(volatile space atomic<T>* object, __metalloid::exactly_t<T> desired,     \
                                            memory_order order) METALLOID_UP_TO_32_BITS(atomic_store_explicit) {     \
    __c11_atomic_store(METALLOID_ATOMIC_PLACE(space), desired, order);                                               \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  METALLOID_FUNC T atomic_load_explicit(const volatile space atomic<T>* object, memory_order order)                  \
      METALLOID_UP_TO_32_BITS(atomic_load_explicit) {                                                                \
    return __c11_atomic_load(METALLOID_ATOMIC_PLACE(space), order);                                                  \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  METALLOID_FUNC T atomic_exchange_explicit(volatile space atomic<T>* object, __metalloid::exactly_t<T> desired,     \
                                            memory_order order) METALLOID_UP_TO_32_BITS(atomic_exchange_explicit) {  \
    return __c11_atomic_exchange(METALLOID_ATOMIC_PLACE(space), desired, order);                                     \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  METALLOID_FUNC bool atomic_compare_exchange_weak_explicit(                                                         \
      volatile space atomic<T>* object, __metalloid::exactly_t<T>* expected, __metalloid::exactly_t<T> desired,      \
      memory_order success, memory_order failure) METALLOID_UP_TO_32_BITS(atomic_compare_exchange_weak_explicit) {   \
    return __c11_atomic_compare_exchange_weak(METALLOID_ATOMIC_PLACE(space), expected, desired, success, failure);   \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  METALLOID_FUNC bool atomic_compare_exchange_strong_explicit(                                                       \
      volatile space atomic<T>* object, __metalloid::exactly_t<T>* expected, __metalloid::exactly_t<T> desired,      \
      memory_order success, memory_order failure) METALLOID_UP_TO_32_BITS(atomic_compare_exchange_strong_explicit) { \
    return __c11_atomic_compare_exchange_strong(METALLOID_ATOMIC_PLACE(space), expected, desired, success, failure); \
  }                                                                                                                  \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_add_explicit, __atomic_fetch_add)                                       \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_sub_explicit, __atomic_fetch_sub)                                       \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_and_explicit, __atomic_fetch_and)                                       \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_or_explicit, __atomic_fetch_or)                                         \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_xor_explicit, __atomic_fetch_xor)                                       \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_max_explicit, __atomic_fetch_max)                                       \
  METALLOID_ATOMIC_FETCH(space, atomic_fetch_min_explicit, __atomic_fetch_min)                                       \
  template <typename T>                                                                                              \
  METALLOID_FUNC void atomic_max_explicit(volatile space atomic<T>* object, __metalloid::exactly_t<T> operand,       \
                                          memory_order order) {                                                      \
    __atomic_fetch_max(METALLOID_PLACE(space), operand, order);                                                      \
  }                                                                                                                  \
  template <typename T>                                                                                              \
  METALLOID_FUNC void atomic_min_explicit(volatile space atomic<T>* object, __metalloid::exactly_t<T> operand,       \
                                          memory_order order) {                                                      \
    __atomic_fetch_min(METALLOID_PLACE(space), operand, order);                                                      \
  }

namespace metal {
METALLOID_ATOMIC_FUNCTIONS(device)
METALLOID_ATOMIC_FUNCTIONS(threadgroup)
}  // namespace metal

#undef METALLOID_ATOMIC_FUNCTIONS
#undef METALLOID_ATOMIC_FETCH
#undef METALLOID_UP_TO_32_BITS
#undef METALLOID_PLACE
#undef METALLOID_ATOMIC_PLACE

typedef metal::atomic<int> atomic_int;
typedef metal::atomic<uint> atomic_uint;
typedef metal::atomic<bool> atomic_bool;
typedef metal::atomic<ulong> atomic_ulong;
typedef metal::atomic<float> atomic_float;

namespace metal {
using ::atomic_bool;
using ::atomic_float;
using ::atomic_int;
using ::atomic_uint;
using ::atomic_ulong;
}  // namespace metal

#endif
