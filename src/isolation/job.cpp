#include "isolation/job.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "ir/support/fatal_errors.h"
#include "metalloid/error.h"
#include "support/last_work.h"
#include "support/sanitizer.h"
#include "support/shared_bytes.h"

namespace metalloid::isolation {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 20;

[[noreturn]] void end(Ending ending) { ::_exit(static_cast<int>(ending)); }

void lower_limit(__rlimit_resource resource, rlim_t value) {
  struct rlimit limit;
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, value);
  ::setrlimit(resource, &limit);
}

// What the process may write to already.
rlim_t data_bytes() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  for (int field = 1; field <= 6; ++field) file >> pages;
  if (!file) return 0;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void limit_memory([[maybe_unused]] std::uint64_t bytes) {
  // Where the machine's memory ends first, this process goes before others.
  if (const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, "1000", 4);
    ::close(file);
  }
#if !defined(METALLOID_MEMORY_IS_SHADOWED)
  if (bytes != 0) lower_limit(RLIMIT_DATA, data_bytes() + stack_bytes + (1 << 20) + bytes);
#endif
}

// The process allocates all the time, and ends soon: it asks the system for much at once, and gives nothing back.
void allocate_for_short_life() {
  constexpr int whole = 1 << 30;
  ::mallopt(M_ARENA_MAX, 1);  // the compiler's thread has the first one to itself
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, whole);
  ::mallopt(M_TOP_PAD, 16 << 20);
}

// SIGPROF ends the process then.
void limit_processor_time(std::uint64_t microseconds) {
  if (microseconds == 0) return;
  constexpr std::uint64_t second = 1'000'000;
  const itimerval timer{{},
                        {static_cast<time_t>(microseconds / second), static_cast<suseconds_t>(microseconds % second)}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

// The METALLOID_* variables of the host, which may have changed since this process was started.
void take_environment(std::string_view entries) {
  std::vector<std::string> old;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("METALLOID_")) old.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : old) ::unsetenv(name.c_str());
  while (!entries.empty()) {
    const std::string_view entry = entries.substr(0, entries.find('\0'));
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) {
      ::setenv(std::string(entry.substr(0, equals)).c_str(), std::string(entry.substr(equals + 1)).c_str(), 1);
    }
    entries.remove_prefix(std::min(entry.size() + 1, entries.size()));
  }
}

void answer(int response, std::string_view first, std::string_view second, Ending ending) {
  end(support::write_all(response, first) && support::write_all(response, second) ? ending : Ending::no_response);
}

}  // namespace

CrashReport run_compiler(support::function_ref<void()> work, support::StopToken* stop,
                         support::function_ref<void(const CrashReport&)> on_crash) {
  ir::keep_fatal_errors();
  CrashReport report{};
  const auto outer = support::run_on_large_stack(
      [&] {
        report.outcome = support::run_guarded(work, {.stop = stop});
        if (!report.outcome.crashed()) return;
        ir::take_fatal_error(report.fatal_error);
        on_crash(report);
      },
      stack_bytes);
  if (!outer.finished()) report.outcome = outer;
  return report;
}

void run_job(const Order& order, std::span<support::Descriptor> descriptors, Perform perform) {
  const int response = descriptors[1].get();
  try {
    if (::fchdir(descriptors[2].get()) != 0 && ::chdir("/") != 0) end(Ending::no_response);
    if (order.show_standard_error) ::dup2(descriptors[3].get(), STDERR_FILENO);
    auto request = support::SharedBytes::map(std::move(descriptors[0]));
    std::optional<support::SharedBytes> attachment;
    if (descriptors.size() > 4) {
      attachment = support::SharedBytes::map(std::move(descriptors[4]), order.attachment_offset);
      if (!attachment) end(Ending::no_response);
    }
    if (!request || request->view().size() < order.environment_size) end(Ending::no_response);
    take_environment(request->view().substr(0, order.environment_size));
    lower_limit(RLIMIT_CORE, 0);
    allocate_for_short_life();
    support::end_with_work();
    std::set_new_handler([] { end(Ending::out_of_memory); });
    ir::call_when_out_of_memory([] { end(Ending::out_of_memory); });
    limit_memory(order.memory);
    limit_processor_time(order.processor_time);

    std::string result;
    std::optional<Error> error;
    const auto work = [&] {
      try {
        result = perform(request->view().substr(order.environment_size), attachment ? attachment->view() : "");
      } catch (const Error& thrown) {
        error.emplace(thrown);
      }
    };
    run_compiler(work, nullptr, [&](const CrashReport& report) {
      answer(response, {reinterpret_cast<const char*>(&report), sizeof(report)}, {}, Ending::crashed);
    });
    if (error) {
      const int code = static_cast<int>(error->code());
      answer(response, {reinterpret_cast<const char*>(&code), sizeof(code)}, error->what(), Ending::failed);
    }
    answer(response, result, {}, Ending::finished);
  } catch (const std::bad_alloc&) {
    end(Ending::out_of_memory);
  } catch (const std::system_error&) {  // no thread with that stack
    end(Ending::out_of_memory);
  } catch (const std::exception& exception) {
    const int code = static_cast<int>(ErrorCode::internal);
    answer(response, {reinterpret_cast<const char*>(&code), sizeof(code)}, exception.what(), Ending::failed);
  }
  end(Ending::no_response);
}

}  // namespace metalloid::isolation
