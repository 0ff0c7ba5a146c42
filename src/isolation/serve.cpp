#include "isolation/serve.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <vector>

#include "isolation/descriptor_passing.h"
#include "isolation/job.h"
#include "isolation/messages.h"

namespace metalloid::isolation {
namespace {

constexpr int idle_milliseconds = 1000;

struct Job {
  pid_t process;
  support::Descriptor answer;  // closed once the host does not want it any more
};

class Server {
 public:
  Server(int host, Perform perform) : host_(host), perform_(perform), self_(::getpid()) {
    // Terminals and batch systems signal whole groups of processes. The host decides what is to end; its own end is
    // the end of this process too.
    for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    ended_ = support::Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  void run() {
    if (!ended_) return;
    std::vector<pollfd> watched;
    while (true) {
      watched.assign({{host_, POLLIN, 0}, {ended_.get(), POLLIN, 0}});
      for (const Job& job : jobs_) watched.push_back({job.answer.get(), POLLIN, 0});  // negative ones are ignored
      const int ready = ::poll(watched.data(), watched.size(), jobs_.empty() ? idle_milliseconds : -1);
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) break;
      for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (watched[i + 2].revents != 0) cancel(jobs_[i]);
      }
      if (watched[1].revents != 0) reap(WNOHANG);
      if (watched[0].revents != 0 && !take_order()) break;
    }
    for (Job& job : jobs_) cancel(job);
    reap(0);
  }

 private:
  static void cancel(Job& job) {
    ::kill(job.process, SIGKILL);  // not waited for yet, so the number is still its own
    job.answer.close();
  }

  // Tells hosts of jobs that have ended.
  void reap(int flags) {
    std::array<signalfd_siginfo, 8> signals;
    while (::read(ended_.get(), signals.data(), sizeof(signals)) > 0) {
    }
    int status = 0;
    while (!jobs_.empty()) {
      const pid_t process = ::waitpid(-1, &status, flags);
      if (process < 0 && errno == EINTR) continue;
      if (process <= 0) return;
      const auto job = std::ranges::find(jobs_, process, &Job::process);
      if (job == jobs_.end()) continue;
      const Verdict verdict{WIFEXITED(status), WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)};
      if (job->answer) ::send(job->answer.get(), &verdict, sizeof(verdict), MSG_NOSIGNAL);
      jobs_.erase(job);
    }
  }

  // False if there will be no more.
  bool take_order() {
    Order order;
    std::vector<support::Descriptor> descriptors;
    if (!receive_with_descriptors(host_, &order, sizeof(order), descriptors)) return false;
    if (descriptors.size() < max_order_descriptors - 1) return true;  // too many open files: the host sees the end
    const pid_t process = ::fork();
    if (process == 0) {
      start_job(order, descriptors);
    } else if (process > 0) {
      jobs_.push_back({process, std::move(descriptors[0])});
    }
    return true;
  }

  [[noreturn]] void start_job(const Order& order, std::vector<support::Descriptor>& descriptors) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != self_) ::_exit(0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ended_.close();
    jobs_.clear();
    ::close(host_);
    descriptors[0].close();  // the server answers
    run_job(order, std::span(descriptors).subspan(1), perform_);
  }

  int host_;
  Perform perform_;
  pid_t self_;
  support::Descriptor ended_;
  std::vector<Job> jobs_;
};

}  // namespace

void serve(int host, Perform perform) { Server(host, perform).run(); }

}  // namespace metalloid::isolation
