// Writes Chrome's trace format, one complete event ("ph": "X") per compile and dispatch.
#include "runtime/observe/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "metalloid/error.h"
#include "support/fork_safe_mutex.h"
#include "support/quiet_writes.h"

namespace metalloid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view array_end = "\n]\n";

std::string text_of(const Json& json) {
  // Names of kernels and files are the user's bytes, in any encoding.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string process_name() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line;
  std::getline(file, line);
  for (char& character : line) {
    if (character == '\0') character = ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line.substr(0, 200);
}

std::filesystem::path with_process_id(const std::filesystem::path& file) {
  std::filesystem::path result = file;
  result.replace_extension(fmt::format(".{}{}", ::getpid(), file.extension().string()));
  return result;
}

// The file of one process. Used under the mutex below.
class Trace {
 public:
  // Nothing is written before the first event: processes without any leave no file.
  void wish(std::filesystem::path file) {
    close();
    wished_ = std::move(file);
    is_fork_ = false;
  }

  void open() {
    path_ = is_fork_ ? with_process_id(wished_) : wished_;
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(file_);
      path_ = with_process_id(wished_);
      file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    }
    if (file_ < 0) fail("cannot write", errno);
    struct stat status = {};
    is_regular_ = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular_ && ::ftruncate(file_, 0) != 0) fail("cannot write", errno);
    end_ = 0;
    add({{"name", "process_name"}, {"ph", "M"}, {"pid", ::getpid()}, {"args", {{"name", process_name()}}}});
  }

  void add(const Json& event) {
    if (file_ < 0) open();
    std::string text = (end_ == 0 ? "[\n" : ",\n") + text_of(event);
    const std::size_t kept = text.size();
    // One write takes the array's end away and puts it behind the event, so that the file is valid at every moment.
    if (is_regular_) text += array_end;
    const support::QuietWrites quiet;
    std::size_t written = 0;
    while (written < text.size()) {
      const char* from = text.data() + written;
      const std::size_t left = text.size() - written;
      const ssize_t count =
          is_regular_ ? ::pwrite(file_, from, left, end_ + static_cast<off_t>(written)) : ::write(file_, from, left);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        const int error = count == 0 ? ENOSPC : errno;
        if (is_regular_ && end_ != 0) {  // as it was
          [[maybe_unused]] bool restored = ::pwrite(file_, array_end.data(), array_end.size(), end_) >= 0 &&
                                           ::ftruncate(file_, end_ + static_cast<off_t>(array_end.size())) == 0;
        }
        fail("cannot write", error);
      }
      written += static_cast<std::size_t>(count);
    }
    end_ += static_cast<off_t>(kept);
  }

  void close() {
    if (file_ >= 0) {
      if (!is_regular_ && end_ != 0) {
        const support::QuietWrites quiet;
        [[maybe_unused]] const ssize_t ignored = ::write(file_, array_end.data(), array_end.size());
      }
      ::close(file_);
    }
    file_ = -1;
    wished_.clear();
  }

  // In a forked child: the file is the parent's.
  void leave_to_parent() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    is_fork_ = true;
  }

  std::optional<std::filesystem::path> path() const {
    if (wished_.empty()) return std::nullopt;
    if (file_ >= 0) return path_;
    return is_fork_ ? with_process_id(wished_) : wished_;
  }

 private:
  [[noreturn]] void fail(std::string_view what, int error) {
    const std::string path = path_.string();
    if (file_ >= 0) ::close(file_);
    file_ = -1;
    wished_.clear();
    throw Error(ErrorCode::input_output,
                fmt::format("{} the trace '{}': {}", what, path, std::generic_category().message(error)));
  }

  std::filesystem::path wished_, path_;
  bool is_fork_ = false;
  int file_ = -1;
  bool is_regular_ = false;
  off_t end_ = 0;  // of the last event
};

struct Shared {
  support::ForkSafeMutex mutex;
  Trace trace;
  std::atomic<bool> on{false};

  Shared();
};

// Made when the library is loaded, and never destroyed: other threads may run kernels until the very end.
Shared& shared = *new Shared;

Shared::Shared() {
  if (const char* wish = std::getenv("METALLOID_TRACE"); wish != nullptr && *wish != '\0') {
    trace.wish(std::filesystem::absolute(wish));
    on = true;
  }
  ::pthread_atfork(nullptr, nullptr, [] { shared.trace.leave_to_parent(); });
}

Json extents(const Size& size) { return {size.x, size.y, size.z}; }

std::string name_of(const Event& event) {
  switch (event.kind) {
    case Event::Kind::library: return "compile " + (event.source ? event.source->name : std::string("library"));
    case Event::Kind::kernel: return "compile kernel " + event.kernel;
    case Event::Kind::dispatch: return event.kernel;
  }
  return {};
}

Json arguments_of(const Event& event) {
  Json result = Json::object();
  if (!event.kernel.empty()) result["kernel"] = event.kernel;
  result["device"] = event.device;
  if (event.source) result["source"] = event.source->name;
  if (event.kind == Event::Kind::dispatch) {
    result[event.grid_counts_threads ? "threads_per_grid" : "threadgroups_per_grid"] = extents(event.grid);
    result["threads_per_threadgroup"] = extents(event.threads_per_threadgroup);
  } else if (event.threads_per_threadgroup.volume() > 1) {
    result["threads_per_threadgroup"] = extents(event.threads_per_threadgroup);  // what the code is for alone
  }
  if (event.kind != Event::Kind::dispatch && !event.error) {
    result["cache"] = event.from_cache ? "hit" : "miss";
  }
  if (event.error) {
    result["error"] = metalloid::name_of(*event.error);
    result["message"] = event.message.substr(0, 1000);
  }
  return result;
}

}  // namespace

bool runtime::is_tracing() { return shared.on.load(std::memory_order_relaxed); }

void runtime::add_to_trace(const Event& event, TraceClock::time_point begin, TraceClock::time_point end) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  std::string problem;
  try {
    const Json entry = {{"name", name_of(event)},
                        {"cat", event.kind == Event::Kind::dispatch ? "dispatch" : "compile"},
                        {"ph", "X"},
                        {"ts", Microseconds(begin.time_since_epoch()).count()},
                        {"dur", Microseconds(end - begin).count()},
                        {"pid", ::getpid()},
                        {"tid", ::gettid()},
                        {"args", arguments_of(event)}};
    const std::lock_guard lock(shared.mutex);
    if (shared.on.load()) shared.trace.add(entry);
    return;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  // The work itself went well: it is not the trace that may make it fail.
  {
    const std::lock_guard lock(shared.mutex);
    shared.on = false;
  }
  support::write_to_standard_error("metalloid: tracing ends: " + problem + "\n");
}

void start_trace(const std::filesystem::path& file) {
  const std::lock_guard lock(shared.mutex);
  shared.on = false;
  shared.trace.wish(std::filesystem::absolute(file));
  shared.trace.open();
  shared.on = true;
}

void stop_trace() {
  const std::lock_guard lock(shared.mutex);
  shared.on = false;
  shared.trace.close();
}

std::optional<std::filesystem::path> trace_file() {
  const std::lock_guard lock(shared.mutex);
  return shared.trace.path();
}

}  // namespace metalloid
