#include "isolation/isolate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "isolation/compiler_process.h"
#include "isolation/job.h"
#include "metalloid/error.h"
#include "support/watchdog.h"

namespace metalloid::isolation {
namespace {

bool is_wanted_here() {
  const char* variable = std::getenv("METALLOID_COMPILE_IN_PROCESS");
  const std::string_view wish = variable ? variable : "";
  return !wish.empty() && wish != "0";
}

std::string what(const Subject& subject) {
  return subject.kernel.empty() ? std::string("compiling") : fmt::format("compiling kernel '{}'", subject.kernel);
}

[[noreturn]] void throw_timed_out(const Subject& subject, const CompileLimits& limits) {
  const auto before = std::chrono::ceil<std::chrono::milliseconds>(limits.spent).count();
  const std::string library =
      before == 0 ? "" : fmt::format("; {:.3f} s of it went into the library", static_cast<double>(before) / 1000);
  throw Error(ErrorCode::compile_error,
              fmt::format("{}: error: {} takes longer than $METALLOID_COMPILE_TIMEOUT (120 s unless set){}\n",
                          subject.source, what(subject), library));
}

[[noreturn]] void throw_out_of_memory(const Subject& subject) {
  throw Error(ErrorCode::compile_error,
              fmt::format("{}: error: {} needs more memory than $METALLOID_COMPILE_MEMORY (4096 MiB unless set), or "
                          "than the machine has left\n",
                          subject.source, what(subject)));
}

[[noreturn]] void throw_interrupted(const Subject& subject) {
  throw Error(ErrorCode::kernel_interrupted, fmt::format("{}: {} was interrupted", subject.source, what(subject)));
}

[[noreturn]] void throw_crashed(const Subject& subject, std::string_view reason) {
  const std::string where = subject.kernel.empty() ? "" : fmt::format(" on kernel '{}'", subject.kernel);
  throw Error(ErrorCode::internal, fmt::format("{}: the compiler crashed{}: {}", subject.source, where, reason));
}

[[noreturn]] void throw_crashed(const Subject& subject, const CrashReport& report) {
  const std::string_view fatal_error = report.fatal_error.data();
  throw_crashed(subject, fatal_error.empty() ? report.outcome.description() : fatal_error);
}

bool is_without_response(const JobResult& result) {
  return result.end == JobResult::End::ended && result.verdict.exited &&
         static_cast<Ending>(result.verdict.code) == Ending::no_response;
}

support::SharedBytes take(JobResult result, const Subject& subject, const CompileLimits& limits) {
  using End = JobResult::End;
  if (result.end == End::timed_out) throw_timed_out(subject, limits);
  if (result.end == End::interrupted) throw_interrupted(subject);
  if (!result.verdict.exited) {
    if (result.verdict.code == SIGPROF) throw_timed_out(subject, limits);
    // Its own faults it reports; this came from outside. The system does so where memory ends.
    if (result.verdict.code == SIGKILL) throw_out_of_memory(subject);
    throw_crashed(subject, fmt::format("signal {}", result.verdict.code));
  }
  const std::string_view response = result.response ? result.response->view() : "";
  switch (static_cast<Ending>(result.verdict.code)) {
    case Ending::finished:
      if (result.response) return std::move(*result.response);
      break;
    case Ending::failed: {
      int code = 0;
      if (response.size() < sizeof(code)) break;
      std::memcpy(&code, response.data(), sizeof(code));
      throw Error(static_cast<ErrorCode>(code), std::string(response.substr(sizeof(code))));
    }
    case Ending::crashed: {
      CrashReport report;
      if (response.size() != sizeof(report)) break;
      std::memcpy(&report, response.data(), sizeof(report));
      throw_crashed(subject, report);
    }
    case Ending::out_of_memory: throw_out_of_memory(subject);
    case Ending::no_response: break;
  }
  throw_crashed(subject, "its process left no result");
}

support::SharedBytes perform_here(const std::string& request, const support::SharedBytes* attachment,
                                  const Subject& subject, const CompileLimits& limits, Perform perform) {
  std::string response;
  support::StopToken stop;
  CrashReport report{};
  bool interrupted = false;
  try {
    support::WatchdogTimer timer(stop, limits.time_left());
    const auto work = [&] {
      timer.count_processor_time();
      response = perform(request, attachment ? attachment->view() : "");
    };
    report = run_compiler(work, &stop);
    interrupted = timer.interrupted();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(subject);
  } catch (const std::system_error&) {
    throw_out_of_memory(subject);
  }
  if (report.outcome.stopped()) interrupted ? throw_interrupted(subject) : throw_timed_out(subject, limits);
  if (report.outcome.crashed()) throw_crashed(subject, report);
  return support::SharedBytes(std::move(response));
}

}  // namespace

support::SharedBytes isolate(const std::string& request, const support::SharedBytes* attachment, const Subject& subject,
                             const CompileLimits& limits, Perform perform) {
  if (limits.is_over()) throw_timed_out(subject, limits);
  if (!is_wanted_here()) {
    auto result = perform_elsewhere(request, attachment, limits);
    // Where files may not be large enough, that in memory included, it cannot leave a response.
    if (result && !is_without_response(*result)) return take(std::move(*result), subject, limits);
  }
  return perform_here(request, attachment, subject, limits, perform);
}

}  // namespace metalloid::isolation
