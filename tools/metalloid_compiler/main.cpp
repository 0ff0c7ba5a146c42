// The compiler's process. libmetalloid.so starts this program, which lies beside it, with its own path and build id
// and with its connection as descriptor 3 (src/isolation).
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("metalloid_compiler is started by libmetalloid.so\n", stderr);
    return 2;
  }
  // The very file that the host has, so that both understand each other.
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  auto* serve = reinterpret_cast<int (*)(int, const char*)>(dlsym(library, "metalloid_serve_compiler"));
  // Ends without unloading the library, which would take a while.
  _exit(serve == nullptr ? 1 : serve(3, arguments[2]));
}
