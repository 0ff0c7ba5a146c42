// C++'s exceptions as they lie in memory: the Itanium C++ ABI's exception handling, 2.2.1, as libstdc++ carries it out.
// Objective-C's are among them, of type `objc_object*`, so that C++'s destructors, catch (...), rethrowing and
// std::exception_ptr are right for them without a word of ours.
#pragma once

#include <unwind.h>

#include <cstddef>
#include <cstdint>
#include <typeinfo>

// As programs see objects (objc/objc.h).
struct objc_object {
  void* isa;
};

extern "C" {
// The ABI's functions that no header declares.
void* __cxa_allocate_exception(std::size_t size) noexcept;
void __cxa_throw(void* thrown, std::type_info* type, void (*destructor)(void*)) __attribute__((noreturn));
void* __cxa_begin_catch(void* exception) noexcept;
void __cxa_end_catch();
_Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class language,
                                         _Unwind_Exception* exception, _Unwind_Context* context);
}

namespace metalloid::objective_c {

// What is thrown follows it. A dependent one, which std::rethrow_exception makes, has another's thrown object in the
// place of the type.
struct CxxException {
  union {
    const std::type_info* type;
    void* primary;
  };
  void (*destructor)(void*);
  void (*unexpected)();
  void (*terminate)();
  CxxException* next;
  int handler_count;
  int handler_switch_value;
  const unsigned char* action;
  const unsigned char* language_data;
  std::uintptr_t catch_temporary;
  void* adjusted;  // what a handler gets
  _Unwind_Exception unwind;
};
static_assert(offsetof(CxxException, unwind) == 80 && sizeof(CxxException) == 112);

inline constexpr _Unwind_Exception_Class primary_class = 0x474e5543432b2b00;  // "GNUCC++\0"
inline constexpr _Unwind_Exception_Class dependent_class = primary_class | 1;

// None for exceptions of other languages.
inline CxxException* cxx_exception_of(_Unwind_Exception* exception) {
  if (exception->exception_class != primary_class && exception->exception_class != dependent_class) return nullptr;
  return reinterpret_cast<CxxException*>(reinterpret_cast<char*>(exception) - offsetof(CxxException, unwind));
}

inline void* thrown_object(CxxException* exception) {
  return exception->unwind.exception_class == dependent_class ? exception->primary : exception + 1;
}
inline const std::type_info* thrown_type(CxxException* exception) {
  return (static_cast<CxxException*>(thrown_object(exception)) - 1)->type;
}

}  // namespace metalloid::objective_c
