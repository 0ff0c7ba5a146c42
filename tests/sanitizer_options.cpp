// What sanitizers must not assume in our processes; they ask the executable. Without effect elsewhere.
extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_suppressions();

// LLVM's allocators poison memory only if they are compiled with the sanitizer; our code is and the archives are not,
// so each would trip over the other's. Threads of kernels run on fibers, whose frames the fake stack would mix up.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0:detect_stack_use_after_return=0"; }

// A kernel that crashes is left from its signal's handler and never returns to it, so that ThreadSanitizer takes all
// that follows for a part of the handler. Children of processes with threads use threads (tests of fork).
extern "C" const char* __tsan_default_options() { return "report_signal_unsafe=0:die_after_fork=0"; }

// libtbb.so is not instrumented, so ThreadSanitizer does not see how its threads hand their tasks to each other. What
// our code does around and in them is not meant here: engines/reference/executable.cpp says itself what comes first.
extern "C" const char* __tsan_default_suppressions() {
  return "race_top:tbb::detail::\n"
         // Tasks, and the count of those that are left, which lies on the stack of the one who waits for it.
         "race:tbb::detail::d1::wait_context\n"
         "race:tbb::detail::d1::fold_tree\n"
         "race:tbb::detail::d1::node::node\n"
         "race:tbb::detail::d1::start_for*::offer_work\n"
         "called_from_lib:libtbb.so\n";
}
