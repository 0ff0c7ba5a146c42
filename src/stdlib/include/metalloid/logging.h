// os_log (MSL spec §6.19). Messages are written whatever the options; the host decides where they go.
#ifndef METALLOID_LOGGING_H
#define METALLOID_LOGGING_H

#include <metalloid/group_operations.h>
#include <metalloid/packed.h>
#include <metalloid/types.h>
#include <metalloid/vec.h>

namespace __metalloid {

// An argument as the operation takes it: kind 0 signed, 1 unsigned, 2 floating, 3 text, 4 address.
struct log_argument {
  uint kind, count, bytes, unused;
  ulong values[4];
};

// Levels are 0 debug, 1 info, 2 default, 3 error, 4 fault.
__attribute__((convergent)) void log_message(int thread_index, int level, constant const char* subsystem,
                                             constant const char* category, constant const char* format,
                                             thread const log_argument* arguments, int count) __asm("metalloid.log");

template <typename T>
constexpr bool is_log_floating = __is_same(T, float) || __is_same(T, half) || __is_same(T, bfloat);

template <typename T>
METALLOID_FUNC void set_log_element(thread log_argument& argument, int i, T value) {
  if constexpr (is_log_floating<T>) {
    argument.values[i] = __builtin_bit_cast(uint, float(value));
  } else {
    argument.values[i] = ulong(value);
  }
}

template <typename T>
METALLOID_FUNC void set_log_argument(thread log_argument& argument, T value) {
  if constexpr (__is_pointer(T)) {
    argument.kind = 4;
    argument.count = 1;
    argument.bytes = 8;
    argument.values[0] = (ulong)value;
  } else {
    using element = typename shape<T>::element;
    argument.kind = is_log_floating<element> ? 2 : element(-1) < element(0) ? 0 : 1;
    argument.count = shape<T>::lanes;
    argument.bytes = sizeof(element);
    if constexpr (shape<T>::is_vector) {
      for (int i = 0; i < shape<T>::lanes; ++i) set_log_element(argument, i, element(value[i]));
    } else {
      set_log_element(argument, 0, value);
    }
  }
}
METALLOID_FUNC void set_log_argument(thread log_argument& argument, constant const char* text) {
  argument.kind = 3;
  argument.count = argument.bytes = 1;
  argument.values[0] = (ulong)text;
}

template <typename... A>
METALLOID_FUNC void write_log(int level, constant const char* subsystem, constant const char* category,
                              constant const char* format, A... values) {
  log_argument arguments[sizeof...(A) + 1];
  int count = 0;
  (set_log_argument(arguments[count++], values), ...);
  log_message(thread_index(), level, subsystem, category, format, arguments, count);
}

}  // namespace __metalloid

namespace metal {

enum log_type { log_type_debug, log_type_info, log_type_default, log_type_error, log_type_fault };

struct os_log {
  template <uint n, uint m>
  METALLOID_FUNC constexpr os_log(const char (&subsystem)[n], const char (&category)[m]) {
    __copy(__subsystem, subsystem, n);
    __copy(__category, category, m);
  }
  METALLOID_FUNC constexpr os_log(constant const char* subsystem, constant const char* category) {
    __copy(__subsystem, subsystem, __most);
    __copy(__category, category, __most);
  }

  template <typename... A>
  METALLOID_FUNC void log_with_type(log_type type, constant const char* format, A... values) const {
    __metalloid::write_log(int(type), (constant const char*)(ulong)&__subsystem[0],
                           (constant const char*)(ulong)&__category[0], format, values...);
  }
  template <typename... A>
  METALLOID_FUNC void log(constant const char* format, A... values) const {
    log_with_type(log_type_default, format, values...);
  }
  template <typename... A>
  METALLOID_FUNC void log_debug(constant const char* format, A... values) const {
    log_with_type(log_type_debug, format, values...);
  }
  template <typename... A>
  METALLOID_FUNC void log_info(constant const char* format, A... values) const {
    log_with_type(log_type_info, format, values...);
  }
  template <typename... A>
  METALLOID_FUNC void log_error(constant const char* format, A... values) const {
    log_with_type(log_type_error, format, values...);
  }
  template <typename... A>
  METALLOID_FUNC void log_fault(constant const char* format, A... values) const {
    log_with_type(log_type_fault, format, values...);
  }

 private:
  // The texts themselves: literals outside of functions have no address that a constant may hold.
  enum : uint { __most = 128 };
  template <typename T>
  METALLOID_FUNC static constexpr void __copy(thread char* to, const T& from, uint n) {
    for (uint i = 0; i < n && i + 1 < __most && from[i] != 0; ++i) to[i] = from[i];
  }
  char __subsystem[__most] = {};
  char __category[__most] = {};
};

constant constexpr os_log os_log_default("", "");

}  // namespace metal

#endif
