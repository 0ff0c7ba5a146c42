// Errors that kernels report to their host: the first 30 are kept, the rest is counted.
#ifndef METALLOID_C10_METAL_ERROR_H
#define METALLOID_C10_METAL_ERROR_H

#include <metal_atomic>

#include <c10/metal/common.h>

namespace c10 {
namespace metal {

C10_METAL_CONSTEXPR unsigned error_message_count = 30;

struct ErrorMessage {
  char file[128];
  char func[128];
  char message[250];
  uint line;
};

struct ErrorMessages {
  ::metal::atomic<uint> count;
  ErrorMessage msg[error_message_count];
};

namespace detail {

// Text under construction: as much as fits, always closed by a zero.
struct error_text {
  device char* begin;
  uint capacity;
  uint length;

  METALLOID_FUNC error_text(device char* memory, uint bytes) : begin(memory), capacity(bytes), length(0) {
    begin[0] = 0;
  }

  // Literals, and texts in any memory.
  inline void append(const char* text) {
    while (*text && length + 1 < capacity) begin[length++] = *text++;
    begin[length] = 0;
  }

  // A number that does not fit is left out whole.
  inline void append(long number) {
    ulong rest = number < 0 ? 0 - ulong(number) : ulong(number);
    uint digits = number < 0 ? 2 : 1;
    for (ulong left = rest / 10; left; left /= 10) ++digits;
    if (length + digits + 1 > capacity) return;
    if (number < 0) begin[length] = '-';
    length += digits;
    begin[length] = 0;
    uint place = length;
    do {
      begin[--place] = char('0' + rest % 10);
      rest /= 10;
    } while (rest);
  }
};

template <typename T>
struct error_argument {
  METALLOID_FUNC static void append(thread error_text& text, T value) { text.append(long(value)); }
};
#define METALLOID_ERROR_TEXT(type)                                           \
  template <>                                                                \
  struct error_argument<type> {                                              \
    METALLOID_FUNC static void append(thread error_text& text, type value) { \
      text.append(static_cast<const char*>(value));                          \
    }                                                                        \
  };
METALLOID_ERROR_TEXT(const char*)
METALLOID_ERROR_TEXT(char*)
METALLOID_ERROR_TEXT(constant const char*)
METALLOID_ERROR_TEXT(device const char*)
METALLOID_ERROR_TEXT(device char*)
#undef METALLOID_ERROR_TEXT

}  // namespace detail

// Arguments are texts, or numbers in decimal. The kernel goes on after reporting.
template <typename... Arguments>
inline void report_error(device ErrorMessages* messages, const char* file, int line, const char* function,
                         Arguments... arguments) {
  const uint index = ::metal::atomic_fetch_add_explicit(&messages->count, 1u, ::metal::memory_order_relaxed);
  if (index >= error_message_count) return;
  device ErrorMessage& message = messages->msg[index];
  detail::error_text(message.file, sizeof(message.file)).append(file);
  detail::error_text(message.func, sizeof(message.func)).append(function);
  detail::error_text text(message.message, sizeof(message.message));
  (detail::error_argument<Arguments>::append(text, arguments), ...);
  message.line = uint(line);
}

}  // namespace metal
}  // namespace c10

#define TORCH_REPORT_ERROR(buffer, ...) ::c10::metal::report_error(buffer, __FILE__, __LINE__, __func__, __VA_ARGS__)

#endif
