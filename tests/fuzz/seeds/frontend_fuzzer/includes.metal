#if __has_include("/dev/null")
#include "/dev/null"
#endif
#include "../../../../../../etc/passwd"
#include_next "fifo"
#import "/proc/self/environ"
#include __FILE__
kernel void f(device int* x) {}
