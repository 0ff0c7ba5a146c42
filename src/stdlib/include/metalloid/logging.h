// os_log (MSL spec §6.19). Metal drops messages unless a program is compiled with -fmetal-enable-logging, which
// Metalloid does not have: every call is dropped here.
#ifndef METALLOID_LOGGING_H
#define METALLOID_LOGGING_H

#include <metalloid/types.h>

namespace metal {

enum log_type { log_type_debug, log_type_info, log_type_default, log_type_error, log_type_fault };

struct os_log {
  METALLOID_FUNC constexpr os_log(const char*, const char*) {}

  template <typename... A>
  METALLOID_FUNC void log_with_type(log_type, const char*, A...) const {}
  template <typename... A>
  METALLOID_FUNC void log(const char*, A...) const {}
  template <typename... A>
  METALLOID_FUNC void log_debug(const char*, A...) const {}
  template <typename... A>
  METALLOID_FUNC void log_info(const char*, A...) const {}
  template <typename... A>
  METALLOID_FUNC void log_error(const char*, A...) const {}
  template <typename... A>
  METALLOID_FUNC void log_fault(const char*, A...) const {}
};

constant constexpr os_log os_log_default("", "");

}  // namespace metal

#endif
