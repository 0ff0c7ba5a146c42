// <string.h>: the system's, and what a Mac's has beside that.
#pragma once

#include_next <string.h>

#if defined(__GLIBC__) && !__GLIBC_PREREQ(2, 38)
// Copies as much as fits with its zero, and returns how long the source is.
static inline size_t strlcpy(char* to, const char* from, size_t size) {
  const size_t length = strlen(from);
  if (size != 0) {
    const size_t copied = length < size ? length : size - 1;
    memcpy(to, from, copied);
    to[copied] = 0;
  }
  return length;
}
// The same behind what is there already.
static inline size_t strlcat(char* to, const char* from, size_t size) {
  const size_t before = strnlen(to, size);
  return before == size ? size + strlen(from) : before + strlcpy(to + before, from, size - before);
}
#endif
