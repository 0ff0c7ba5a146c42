#include "isolation/compiler_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "isolation/descriptor_passing.h"
#include "support/build_id.h"
#include "support/fork_safe_mutex.h"
#include "support/library_path.h"
#include "support/watchdog.h"

namespace metalloid::isolation {
namespace {

using support::Descriptor;

// Guards the connection and the list of sockets.
support::ForkSafeMutex& mutex = *new support::ForkSafeMutex;
using Lock = std::unique_lock<support::ForkSafeMutex>;

// Ends of sockets that this process has open. A forked child closes its copies: the other side must see it when this
// process closes its own.
std::set<int>& open_sockets = *new std::set<int>;

struct Connected {
  Descriptor here;  // in the list
  Descriptor there;
};

std::optional<Connected> make_sockets(const Lock&) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  const Descriptor first(ends[0]), second(ends[1]);
  constexpr int lowest = 10;  // above the standard streams, which a host may have closed
  Descriptor here(::fcntl(ends[0], F_DUPFD_CLOEXEC, lowest)), there(::fcntl(ends[1], F_DUPFD_CLOEXEC, lowest));
  if (!here || !there) return std::nullopt;
  open_sockets.insert(here.get());
  return Connected{std::move(here), std::move(there)};
}

void close_socket(Descriptor& socket, const Lock&) {
  open_sockets.erase(socket.get());
  socket.close();
}

// The two ends that one answer comes through.
class AnswerSockets {
 public:
  AnswerSockets() {
    const Lock lock(mutex);
    sockets_ = make_sockets(lock);
  }
  ~AnswerSockets() {
    if (!sockets_) return;
    const Lock lock(mutex);
    close_socket(sockets_->here, lock);
  }
  AnswerSockets(const AnswerSockets&) = delete;
  AnswerSockets& operator=(const AnswerSockets&) = delete;
  explicit operator bool() const { return sockets_.has_value(); }
  int here() const { return sockets_->here.get(); }
  int there() const { return sockets_->there.get(); }
  void close_there() { sockets_->there.close(); }

 private:
  std::optional<Connected> sockets_;
};

std::string executable_path(const std::string& library) {
  const char* chosen = std::getenv("METALLOID_COMPILER");
  if (chosen && *chosen) return chosen;
  return (std::filesystem::path(library).parent_path() / "metalloid_compiler").string();
}

class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&files);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int stream : {0, 1, 2}) ::posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
    ::posix_spawn_file_actions_adddup2(&files, socket, 3);
    ::posix_spawn_file_actions_addclosefrom_np(&files, 4);
    ::posix_spawn_file_actions_addchdir_np(&files, "/");
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
};

// The process itself.
class Child {
 public:
  Child() = default;
  explicit Child(pid_t process) : process_(process), handle_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}
  Child(Child&&) = default;
  Child& operator=(Child&&) = default;

  // Once its connection is closed, it ends at once. A host that waits for any child may have waited for this one, and
  // its number may be another child's since; the handle is not.
  void wait() {
    if (!handle_) return;
    constexpr int patience = 500;  // milliseconds
    pollfd ended{handle_.get(), POLLIN, 0};
    if (::poll(&ended, 1, patience) <= 0) ::kill(process_, SIGKILL);
    siginfo_t info;
    while (::waitid(P_PIDFD, static_cast<id_t>(handle_.get()), &info, WEXITED) < 0 && errno == EINTR) {
    }
    handle_.close();
  }

 private:
  pid_t process_ = 0;
  Descriptor handle_;
};

// Starts the process on the other end of a socket. False if that fails.
bool start(int socket, Child& child) {
  const std::string library = support::library_path(), executable = executable_path(library);
  if (library.empty() || ::access(executable.c_str(), X_OK) != 0) return false;
  const SpawnSettings settings(socket);
  std::string build = support::build_id();
  char* arguments[] = {const_cast<char*>(executable.c_str()), const_cast<char*>(library.c_str()), build.data(),
                       nullptr};
  pid_t process = 0;
  if (::posix_spawn(&process, executable.c_str(), &settings.files, &settings.attributes, arguments, environ) != 0) {
    return false;
  }
  child = Child(process);
  return true;
}

// The connection to this process's compiler.
class Connection {
 public:
  enum class Sent { yes, no, not_now };

  // Starts the process if need be. `which` tells it from its successors.
  Sent send(const Order& order, std::span<const int> descriptors, unsigned& which) {
    const Lock lock(mutex);
    if (socket_ && !is_usable()) drop(lock);
    if (!socket_ && !start(lock)) return Sent::no;
    which = count_;
    if (send_with_descriptors(socket_.get(), &order, sizeof(order), descriptors)) return Sent::yes;
    if (errno == EAGAIN) return Sent::not_now;
    drop(lock);
    return ++failures_ < max_failures ? Sent::not_now : Sent::no;
  }

  // After an order that the process took without an answer.
  void lost(unsigned which) {
    const Lock lock(mutex);
    if (!socket_ || which != count_) return;
    drop(lock);
    ++failures_;
  }

  void worked() {
    const Lock lock(mutex);
    failures_ = 0;
  }

  // When the host ends.
  void end() {
    const Lock lock(mutex);
    ended_ = true;
    failures_ = max_failures;
    if (socket_) drop(lock);
  }
  bool has_ended() const { return ended_; }

  // In a forked child, which starts a process of its own.
  void forget() {
    socket_.release();  // closed with all others
    child_ = Child();
    failures_ = 0;
  }

 private:
  static constexpr int max_failures = 2;

  bool start(const Lock& lock);

  void drop(const Lock& lock) {
    if (is_ours()) {
      ::shutdown(socket_.get(), SHUT_RDWR);
      close_socket(socket_, lock);
    } else {
      open_sockets.erase(socket_.get());
      socket_.release();
    }
    child_.wait();
  }

  // A host may close all files that it does not know, and their numbers become other files'.
  bool is_ours() const {
    struct stat now;
    return ::fstat(socket_.get(), &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino;
  }
  // A process that had nothing to do has ended. A host that gave up rights must not read files with them.
  bool is_usable() const {
    if (!is_ours() || user_ != ::geteuid() || group_ != ::getegid()) return false;
    pollfd state{socket_.get(), 0, 0};
    return ::poll(&state, 1, 0) == 0;
  }

  Descriptor socket_;
  Child child_;
  struct stat status_ = {};
  uid_t user_ = 0;
  gid_t group_ = 0;
  unsigned count_ = 0;
  int failures_ = 0;  // in a row
  std::atomic<bool> ended_{false};
};

Connection& connection = *new Connection;

bool Connection::start(const Lock& lock) {
  if (failures_ >= max_failures) return false;
  auto sockets = make_sockets(lock);
  if (!sockets) return false;
  if (!metalloid::isolation::start(sockets->there.get(), child_)) {
    close_socket(sockets->here, lock);
    failures_ = max_failures;
    return false;
  }
  socket_ = std::move(sockets->here);
  ::fstat(socket_.get(), &status_);
  user_ = ::geteuid();
  group_ = ::getegid();
  ++count_;
  static bool is_registered = false;
  if (!std::exchange(is_registered, true)) std::atexit([] { connection.end(); });
  return true;
}

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, [] {
  for (const int socket : open_sockets) ::close(socket);
  open_sockets.clear();
  connection.forget();
});

std::string environment() {
  std::string entries;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("METALLOID_")) entries.append(text).push_back('\0');
  }
  return entries;
}

struct Answer {
  JobResult::End end = JobResult::End::ended;
  std::optional<Verdict> verdict;  // none: the compiler's process has ended
};

Answer wait_for(int socket, const CompileLimits& limits) {
  const auto start = CompileLimits::Clock::now();
  Answer answer;
  Verdict verdict;
  ssize_t received;
  {
    // The process limits its own time. Shutting the socket down ends the wait here and, over there, the compile.
    support::WatchdogTimer timer([socket] { ::shutdown(socket, SHUT_RDWR); }, limits.patience());
    do received = ::recv(socket, &verdict, sizeof(verdict), 0);
    while (received < 0 && errno == EINTR);
    if (timer.interrupted()) answer.end = JobResult::End::interrupted;
  }
  if (received == sizeof(verdict)) {
    answer.verdict = verdict;
    answer.end = JobResult::End::ended;
  } else if (answer.end == JobResult::End::ended && limits.is_patience_over(start)) {
    answer.end = JobResult::End::timed_out;
  }
  return answer;
}

}  // namespace

std::optional<JobResult> perform_elsewhere(std::string_view request, const support::SharedBytes* attachment,
                                           const CompileLimits& limits) {
  if (attachment && attachment->descriptor() < 0) return std::nullopt;
  const std::string variables = environment();
  const support::SharedBytes whole(variables + std::string(request));
  const Descriptor folder(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (whole.descriptor() < 0 || !nowhere) return std::nullopt;
  Order order{};
  order.environment_size = variables.size();
  order.memory = limits.memory;
  order.processor_time = static_cast<std::uint64_t>(std::chrono::microseconds(limits.time_left()).count());
  order.show_standard_error = std::getenv("METALLOID_DUMP") != nullptr;
  order.attachment_offset = attachment ? attachment->offset() : 0;
  const bool has_standard_error = ::fcntl(STDERR_FILENO, F_GETFD) >= 0;
  const auto start = CompileLimits::Clock::now();

  // Once more if the process ends from outside, or at that very moment because it had nothing to do.
  for (int attempt = 0; attempt < 2;) {
    AnswerSockets answers;
    Descriptor response = support::make_memory_file("metalloid-response");
    if (!answers || !response) return std::nullopt;
    std::vector<int> descriptors = {answers.there(), whole.descriptor(), response.get(),
                                    folder ? folder.get() : nowhere.get(),
                                    has_standard_error ? STDERR_FILENO : nowhere.get()};
    if (attachment) descriptors.push_back(attachment->descriptor());
    unsigned which = 0;
    const Connection::Sent sent = connection.send(order, descriptors, which);
    if (sent == Connection::Sent::no) break;
    if (sent == Connection::Sent::not_now) {
      if (limits.is_patience_over(start)) return JobResult{.end = JobResult::End::timed_out};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    answers.close_there();
    const Answer answer = wait_for(answers.here(), limits);
    if (answer.end != JobResult::End::ended) return JobResult{.end = answer.end};
    if (answer.verdict) {
      connection.worked();
      return JobResult{JobResult::End::ended, *answer.verdict, support::SharedBytes::map(std::move(response))};
    }
    connection.lost(which);
    ++attempt;
  }
  if (connection.has_ended()) return JobResult{.end = JobResult::End::interrupted};
  return std::nullopt;
}

}  // namespace metalloid::isolation
