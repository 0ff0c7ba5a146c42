#include "support/crash_guard.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <system_error>

#include "support/fork_safe_mutex.h"
#include "support/sanitizer.h"

namespace metalloid::support {

// One guarded region; lives on the stack of run_guarded.
struct Guard {
  void* jump_buffer[5];  // __builtin_setjmp's
  Guard* enclosing = nullptr;
  StopToken* stop = nullptr;
  Guard* next_of_token = nullptr;
  pthread_t thread;
  GuardOutcome outcome;
  std::uintptr_t abandoned_stack = 0;  // stack pointer of the code that was left

  void join_token() {
    if (!stop) return;
    std::lock_guard lock(stop->mutex_);
    next_of_token = stop->first_;
    stop->first_ = this;
  }
  void leave_token() {
    if (!stop) return;
    std::lock_guard lock(stop->mutex_);
    Guard** link = &stop->first_;
    while (*link != this) link = &(*link)->next_of_token;
    *link = next_of_token;
  }
};

namespace {

constexpr std::array fault_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
// ThreadSanitizer's own sigaction() keeps signals back until a thread calls something that it knows, which a kernel
// never does.
#if defined(METALLOID_THREAD_SANITIZER)
extern "C" int __sigaction(int signal, const struct sigaction* action, struct sigaction* previous) noexcept;
int change_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  return __sigaction(signal, action, previous);
}
#else
int change_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  return ::sigaction(signal, action, previous);
}
#endif

std::array<struct sigaction, fault_signals.size()> previous_actions;

int stop_signal() { return SIGRTMIN + 7; }

// Read in signal handlers, so it must never be allocated lazily.
__attribute__((tls_model("initial-exec"))) thread_local Guard* current_guard = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool stops_deferred = false;
__attribute__((tls_model("initial-exec"))) thread_local bool inside_previous = false;

std::uintptr_t stack_pointer_of(void* context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.sp;
#else
  return 0;
#endif
}

const void* return_address_of([[maybe_unused]] void* context) {
#if defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.regs[30]);
#else
  return nullptr;  // on the stack
#endif
}

[[noreturn]] void leave(Guard* guard, void* context) {
  current_guard = guard->enclosing;
  stops_deferred = false;
  guard->abandoned_stack = stack_pointer_of(context);
  __builtin_longjmp(guard->jump_buffer, 1);
}

const void* instruction_of(void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

void call_previous(int signal, siginfo_t* info, void* context) {
  std::size_t which = 0;
  while (fault_signals[which] != signal) ++which;
  const struct sigaction& previous = previous_actions[which];
  bool has_function =
      (previous.sa_flags & SA_SIGINFO) || (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN);
  // A previous handler that passes the signal on to its own predecessor may end here again.
  if (has_function && !inside_previous) {
    inside_previous = true;
    if (previous.sa_flags & SA_SIGINFO) {
      previous.sa_sigaction(signal, info, context);
    } else {
      previous.sa_handler(signal);
    }
    inside_previous = false;
  } else {
    // Returning repeats the fault, now with its default end; a signal that was sent is sent again.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    change_action(signal, &standard, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
}

void note_place(GuardOutcome& outcome, void* context) {
  outcome.instruction = instruction_of(context);
  outcome.stack_pointer = reinterpret_cast<const void*>(stack_pointer_of(context));
  outcome.return_address = return_address_of(context);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Guard* guard = current_guard;
  // Signals that another process sends are meant for the process, not for the guarded code.
  bool own = info->si_code > 0 || info->si_pid == ::getpid();
  if (!guard || !own) return call_previous(signal, info, context);
  guard->outcome.end = GuardOutcome::End::crashed;
  guard->outcome.signal = signal;
  bool is_access = (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0;
  // x86 does not tell addresses that no memory can have: 48 bits and up.
  guard->outcome.beyond_addresses = is_access && info->si_code == SI_KERNEL;
  guard->outcome.fault_address = is_access ? info->si_addr : nullptr;
  note_place(guard->outcome, context);
#if defined(__x86_64__)
  // Here the processor names the instruction behind.
  if (signal == SIGTRAP) guard->outcome.instruction = static_cast<const char*>(guard->outcome.instruction) - 1;
#endif
  if (signal == SIGSEGV && info->si_code > 0) {
    // Memory right at the stack pointer is missing only below a stack's end.
    constexpr std::intptr_t reach = 64 * 1024;
    auto distance =
        static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(info->si_addr) - stack_pointer_of(context));
    guard->outcome.stack_overflow = distance > -reach && distance < reach;
  }
  leave(guard, context);
}

void on_stop(int, siginfo_t*, void* context) {
  Guard* guard = current_guard;
  if (!guard || stops_deferred || !guard->stop || !guard->stop->stop_requested()) return;
  guard->outcome.end = GuardOutcome::End::stopped;
  note_place(guard->outcome, context);
  leave(guard, context);
}

ForkSafeMutex& claiming = *new ForkSafeMutex;

// System calls are most of what a short kernel takes. Between two that come soon after each other only what decides is
// looked at: whether SIGSEGV is ours, which nobody leaves out who handles faults, and whether signals are blocked.
using Clock = std::chrono::steady_clock;
constexpr Clock::duration soon = std::chrono::microseconds(100);
Clock::time_point all_claimed;  // when all was looked at last, of the process; under `claiming`

bool is_action(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& current) {
  change_action(signal, nullptr, &current);
  return (current.sa_flags & SA_SIGINFO) && current.sa_sigaction == handler;
}

void claim_faults() {
  struct sigaction action = {};
  // NODEFER: the handler jumps out, which must not leave the signal blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, stop_signal());
  action.sa_sigaction = on_fault;
  for (std::size_t i = 0; i < fault_signals.size(); ++i) {
    struct sigaction current;
    if (is_action(fault_signals[i], on_fault, current)) continue;
    previous_actions[i] = current;
    change_action(fault_signals[i], &action, nullptr);
  }
}

void claim_stops() {
  struct sigaction current;
  if (is_action(stop_signal(), on_stop, current)) return;
  struct sigaction action = {};
  sigemptyset(&action.sa_mask);
  // Not so for stops: real-time signals queue up while a thread waits for a processor, and would all be delivered on
  // top of each other. run_guarded unblocks the signal.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  action.sa_sigaction = on_stop;
  change_action(stop_signal(), &action, nullptr);
}

// The handlers' stack, one per thread. A large enough one that somebody else installed is used as it is.
class AlternateStack {
 public:
  void ensure() {
    const Clock::time_point now = Clock::now();
    if (now - seen_ < soon) return;
    seen_ = now;
    stack_t current;
    if (::sigaltstack(nullptr, &current) != 0) return;
    if (!(current.ss_flags & SS_DISABLE) && current.ss_size >= stack_size) return;
    if (!memory_) {
      void* memory = ::mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return;
      memory_ = memory;
    }
    stack_t stack = {};
    stack.ss_sp = memory_;
    stack.ss_size = stack_size;
    if (::sigaltstack(&stack, nullptr) == 0) previous_ = current;
  }
  ~AlternateStack() {
    if (!memory_) return;
    stack_t current;
    if (::sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory_) {
      if (previous_.ss_flags & SS_DISABLE) previous_.ss_flags = SS_DISABLE;
      ::sigaltstack(&previous_, nullptr);
    }
    ::munmap(memory_, stack_size);
  }

 private:
  static constexpr std::size_t stack_size = 64 * 1024;
  stack_t previous_ = {};
  void* memory_ = nullptr;
  Clock::time_point seen_;
};

sigset_t guard_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : fault_signals) sigaddset(&set, signal);
  sigaddset(&set, stop_signal());
  return set;
}

// What is known of this thread's signals.
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t seen_occasion = 0;
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t host_called_until = 0;
__attribute__((tls_model("initial-exec"))) thread_local bool nothing_changed = false;
__attribute__((tls_model("initial-exec"))) thread_local bool all_unblocked = false;

// In units of a clock that is fine enough and cheap to read, where there is one.
#if defined(__x86_64__)
std::uint64_t cycles() { return __rdtsc(); }
constexpr std::uint64_t shorter_than_system_calls = 100;
#else
std::uint64_t cycles() { return 0; }
constexpr std::uint64_t shorter_than_system_calls = 0;
#endif

// A blocked signal that the thread itself causes ends the process.
class UnblockedSignals {
 public:
  explicit UnblockedSignals(std::uint64_t occasion) {
    if (all_unblocked && (nothing_changed || (occasion != 0 && occasion == seen_occasion))) return;
    if (occasion == 0) claim_signals();
    thread_local AlternateStack stack;
    stack.ensure();
    const sigset_t ours = guard_signals();
    ::pthread_sigmask(SIG_UNBLOCK, &ours, &before_);
    all_unblocked = true;
    for (int signal : fault_signals) all_unblocked = all_unblocked && sigismember(&before_, signal) == 0;
    all_unblocked = all_unblocked && sigismember(&before_, stop_signal()) == 0;
    restore_ = !all_unblocked;
    seen_occasion = occasion;
  }
  ~UnblockedSignals() {
    if (restore_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  UnblockedSignals(const UnblockedSignals&) = delete;
  UnblockedSignals& operator=(const UnblockedSignals&) = delete;

 private:
  sigset_t before_;
  bool restore_ = false;
};

// A frame of its own, for __builtin_setjmp wants a function that is not inlined and holds nothing across the jump.
__attribute__((noinline)) void enter(Guard& guard, const function_ref<void()>& function) {
  if (__builtin_setjmp(guard.jump_buffer) == 0) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_guard = &guard;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (guard.stop && guard.stop->stop_requested()) {
      guard.outcome.end = GuardOutcome::End::stopped;
    } else {
      function();
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_guard = guard.enclosing;
  }
}

// The frames that were jumped over still have their redzones. (ASan's own __asan_handle_no_return is lost on a
// signal stack above a fiber.) Fibers' stacks are cleaned by their owner.
void forget_abandoned_frames([[maybe_unused]] const Guard& guard) {
#if defined(METALLOID_ADDRESS_SANITIZER)
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  std::size_t size = 0;
  ::pthread_attr_getstack(&attributes, &bottom, &size);
  ::pthread_attr_destroy(&attributes);
  auto here = reinterpret_cast<std::uintptr_t>(&guard), lowest = reinterpret_cast<std::uintptr_t>(bottom);
  if (guard.abandoned_stack < lowest || guard.abandoned_stack > here) return;
  std::uintptr_t own_frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (guard.abandoned_stack < own_frame) {
    __asan_unpoison_memory_region(reinterpret_cast<void*>(guard.abandoned_stack), own_frame - guard.abandoned_stack);
  }
#endif
}

void unblock_signals() {
  const sigset_t set = guard_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::string_view signal_name(int signal) {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGABRT: return "SIGABRT";
    case SIGTRAP: return "SIGTRAP";
    case SIGSYS: return "SIGSYS";
    default: return "signal";
  }
}

}  // namespace

void claim_signals() {
  if (all_unblocked && nothing_changed) return;
  std::lock_guard lock(claiming);
  const Clock::time_point now = Clock::now();
  struct sigaction current;
  if (now - all_claimed < soon && is_action(SIGSEGV, on_fault, current)) return;
  claim_faults();
  claim_stops();
  all_claimed = now;
}

HostCall::HostCall() { nothing_changed = cycles() - host_called_until < shorter_than_system_calls; }

HostCall::~HostCall() {
  nothing_changed = false;
  host_called_until = cycles();
}

void defer_stops(bool defer) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  stops_deferred = defer;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void StopToken::request_stop() {
  requested_.store(true, std::memory_order_release);
  {
    const std::lock_guard lock(claiming);
    claim_stops();
  }
  std::lock_guard lock(mutex_);
  for (Guard* guard = first_; guard; guard = guard->next_of_token) ::pthread_kill(guard->thread, stop_signal());
}

bool StopToken::threads_inside() const {
  std::lock_guard lock(mutex_);
  return first_ != nullptr;
}

std::string GuardOutcome::description() const {
  switch (end) {
    case End::finished: return "finished";
    case End::stopped: return "stopped";
    case End::crashed: break;
  }
  if (stack_overflow) return "SIGSEGV (stack overflow)";
  if (beyond_addresses) return fmt::format("{} (memory access far outside of all memory)", signal_name(signal));
  switch (signal) {
    case SIGSEGV:
    case SIGBUS: return fmt::format("{} (invalid memory access at {})", signal_name(signal), fmt::ptr(fault_address));
    case SIGFPE: return "SIGFPE (arithmetic fault)";
    case SIGILL: return "SIGILL (illegal instruction or unreachable code)";
    case SIGTRAP: return "SIGTRAP (breakpoint)";
    case SIGSYS: return "SIGSYS (forbidden system call)";
    default: return std::string(signal_name(signal));
  }
}

GuardOutcome run_guarded(function_ref<void()> function, const GuardOptions& options) {
  const UnblockedSignals unblocked(options.occasion);
  struct Region : Guard {
    Region(StopToken* token) {
      stop = token;
      enclosing = current_guard;
      thread = ::pthread_self();
      join_token();
    }
    ~Region() {
      current_guard = enclosing;  // an exception skips enter()'s own reset
      leave_token();
    }
  } region(options.stop);
  enter(region, function);
  if (!region.outcome.finished()) {
    unblock_signals();
    forget_abandoned_frames(region);
  }
  return region.outcome;
}

GuardOutcome run_on_large_stack(function_ref<void()> function, std::size_t stack_bytes, const GuardOptions& options) {
  struct Task {
    function_ref<void()> function;
    const GuardOptions& options;
    GuardOutcome outcome;
    std::exception_ptr exception;
  } task{function, options, {}, nullptr};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  ::pthread_attr_setguardsize(&attributes, 1 << 20);
  pthread_t thread;
  int error = ::pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        Task& task = *static_cast<Task*>(argument);
        try {
          task.outcome = run_guarded(task.function, task.options);
        } catch (...) {
          task.exception = std::current_exception();
        }
        return nullptr;
      },
      &task);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start a thread");
  ::pthread_join(thread, nullptr);
  if (task.exception) std::rethrow_exception(task.exception);
  return task.outcome;
}

}  // namespace metalloid::support
