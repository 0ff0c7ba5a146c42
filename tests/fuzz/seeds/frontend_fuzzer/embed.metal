constant char text[] = {
#embed "/etc/hostname" limit(8)
};
#if __has_embed("/etc/passwd") || __has_include("/etc/passwd") || __has_include(</proc/self/maps>)
#error found
#endif
kernel void f(device int* x) { x[0] = text[0]; }
