// What AddressSanitizer must not assume in our processes; it asks the executable. Without effect elsewhere.
extern "C" const char* __asan_default_options();

// LLVM's allocators poison memory only if they are compiled with the sanitizer; our code is and the archives are not,
// so each would trip over the other's. Threads of kernels run on fibers, whose frames the fake stack would mix up.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0:detect_stack_use_after_return=0"; }
