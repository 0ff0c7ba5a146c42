// What libc++ wants of its own ABI library beyond libstdc++'s, over that: programs use libc++ whole within them, and
// the process' one C++ runtime, libstdc++, under it, so that exceptions pass between all that is loaded.
#include <exception>
#include <new>

static_assert(sizeof(std::exception_ptr) == sizeof(void*));

namespace {

// An exception_ptr is the exception's address, and one reference to it.
std::exception_ptr& as_pointer(void*& exception) { return reinterpret_cast<std::exception_ptr&>(exception); }

}  // namespace

extern "C" {

unsigned __cxa_uncaught_exceptions() noexcept { return static_cast<unsigned>(std::uncaught_exceptions()); }

void __cxa_increment_exception_refcount(void* exception) noexcept {
  if (!exception) return;
  alignas(std::exception_ptr) char more[sizeof(std::exception_ptr)];
  new (more) std::exception_ptr(as_pointer(exception));  // and never destroyed
}

void __cxa_decrement_exception_refcount(void* exception) noexcept {
  if (exception) as_pointer(exception).~exception_ptr();
}

void* __cxa_current_primary_exception() noexcept {
  void* exception = nullptr;
  as_pointer(exception) = std::current_exception();
  return exception;
}

void __cxa_rethrow_primary_exception(void* exception) {
  if (exception) std::rethrow_exception(as_pointer(exception));
}
}
