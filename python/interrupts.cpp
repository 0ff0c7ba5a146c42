#include "interrupts.h"

#include <pthread.h>

#include <csignal>
#include <mutex>

#include "metalloid/dispatch.h"

namespace metalloid_python {
namespace {

// fork() waits for the mutex, so that no child finds it locked.
std::mutex mutex;
int scopes = 0;
thread_local int scopes_of_thread = 0;
bool installed = false;
struct sigaction previous;  // written before the handler is installed

void on_interrupt(int signal, siginfo_t* info, void* context) {
  // Python's handler first: whoever then sees the kernel stopped finds the signal noted.
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
  metalloid::interrupt_kernels();
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_interrupt;
}

void uninstall() {
  installed = false;
  struct sigaction current;
  // A handler that came since then stays.
  if (::sigaction(SIGINT, nullptr, &current) == 0 && is_ours(current)) ::sigaction(SIGINT, &previous, nullptr);
}

// The scopes of the parent's other threads are no scopes of the child.
void after_fork_in_child() {
  scopes = scopes_of_thread;
  if (scopes == 0 && installed) uninstall();
  mutex.unlock();
}

[[maybe_unused]] const int fork_watched =
    ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, after_fork_in_child);

}  // namespace

InterruptScope::InterruptScope() {
  const std::lock_guard lock(mutex);
  ++scopes_of_thread;
  if (scopes++ > 0) return;
  struct sigaction current;
  if (::sigaction(SIGINT, nullptr, &current) != 0) return;
  const bool is_function =
      (current.sa_flags & SA_SIGINFO) != 0 || (current.sa_handler != SIG_DFL && current.sa_handler != SIG_IGN);
  if (!is_function || is_ours(current)) return;
  previous = current;
  struct sigaction ours = current;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = on_interrupt;
  sigfillset(&ours.sa_mask);  // the stop, which jumps out of the kernel, must find this handler left
  installed = ::sigaction(SIGINT, &ours, nullptr) == 0;
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(mutex);
  --scopes_of_thread;
  if (--scopes == 0 && installed) uninstall();
}

}  // namespace metalloid_python
