// Objective-C's exceptions: @throw, and what happens to one that nobody catches.
#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "metal/objc/cxx_exceptions.h"
#include "metal/objc/runtime.h"
#include "metalloid/metal/host.h"

namespace metalloid::objective_c {
namespace {

using Preprocessor = void* (*)(void* object);
using UncaughtHandler = void (*)(void* object);

struct Hooks {
  Preprocessor preprocess = nullptr;
  UncaughtHandler uncaught = nullptr;
  ExceptionMaker make = nullptr;
  std::terminate_handler before = nullptr;
};

Hooks& hooks() {
  static Hooks& instance = *new Hooks;
  return instance;
}

// @finally and `@catch (...)` hand on the exception as it came, whatever language threw it.
[[noreturn]] void go_on_with(_Unwind_Exception* exception) {
  _Unwind_Resume_or_Rethrow(exception);
  if (cxx_exception_of(exception)) __cxa_begin_catch(exception);  // nobody catches it
  std::terminate();
}

// The object that nobody caught, if an exception of Objective-C ends the process.
bool is_uncaught(void*& object) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (!type || *type != typeid(objc_object*)) return false;
  try {
    throw;
  } catch (objc_object* thrown) {
    object = thrown;
  }
  return true;
}

[[noreturn]] void throw_object(void* object) {
  if (hooks().preprocess) object = hooks().preprocess(object);
  auto** thrown = static_cast<void**>(__cxa_allocate_exception(sizeof(void*)));
  *thrown = objc_retain(object);
  __cxa_throw(thrown, const_cast<std::type_info*>(&typeid(objc_object*)),
              [](void* place) { objc_release(*static_cast<void**>(place)); });
}

[[noreturn]] void end_process() {
  void* object = nullptr;
  if (is_uncaught(object)) {
    if (hooks().uncaught) hooks().uncaught(object);
    std::abort();
  }
  if (hooks().before) hooks().before();
  std::abort();
}

[[maybe_unused]] const bool is_set = [] {
  hooks().before = std::set_terminate(&end_process);
  return true;
}();

}  // namespace

void set_exception_maker(ExceptionMaker make) { hooks().make = make; }

void raise_exception(metal::Fault fault, const char* name, const std::string& reason) {
  if (metal::host().raise_fault) metal::host().raise_fault(fault, reason);
  throw_object(hooks().make(name, reason));
}

}  // namespace metalloid::objective_c

using namespace metalloid::objective_c;

extern "C" {

void objc_exception_throw(void* object) {
  if (object && !is_receiver(object)) go_on_with(static_cast<_Unwind_Exception*>(object));
  throw_object(object);
}

Preprocessor objc_setExceptionPreprocessor(Preprocessor function) {
  return std::exchange(hooks().preprocess, function);
}
UncaughtHandler objc_setUncaughtExceptionHandler(UncaughtHandler function) {
  return std::exchange(hooks().uncaught, function);
}

}  // extern "C"
