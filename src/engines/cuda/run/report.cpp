#include "engines/cuda/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "engines/cuda/run/texts.h"
#include "engines/out_of_bounds.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

std::array<std::uint32_t, 3> triple(const Size& size) { return {size.x, size.y, size.z}; }

// As the engines of the CPU say it.
Error crash(const Report& report, const KernelInfo& kernel, const std::array<std::uint32_t, 3>& threads) {
  const std::string whole = text_at(report.first);
  const std::string place = whole.substr(whole.rfind('/') + 1);  // the file without its folder
  const std::string at = place.empty() ? fmt::format(" (declared at {}:{})", kernel.source_file, kernel.source_line)
                                       : fmt::format(" at {}", place);
  const char* what = report.offset == static_cast<std::uint64_t>(Failure::stack)
                         ? "a thread's stack overflowed"
                         : "illegal instruction or unreachable code";
  return {ErrorCode::kernel_crashed,
          fmt::format("kernel '{}' crashed{}: {}, in threadgroup ({}, {}, {}), thread ({}, {}, {})", kernel.name, at,
                      what, report.group[0], report.group[1], report.group[2], report.thread % threads[0],
                      report.thread / threads[0] % threads[1], report.thread / threads[0] / threads[1])};
}

}  // namespace

std::exception_ptr take_report(Address address, const ReportedLaunch& launch) {
  Report report;
  driver().check(driver().copy_out(&report, address, sizeof(report)), "a copy");
  driver().fill_with_zeros(address, offsetof(Report, log));
  if (!report.is_taken) return nullptr;
  const auto nominal = triple(launch.threads_per_threadgroup), grid = triple(launch.threads_per_grid);
  std::array<std::uint32_t, 3> actual{};
  for (std::size_t d = 0; d < 3; ++d) actual[d] = std::min(nominal[d], grid[d] - report.group[d] * nominal[d]);
  if (report.what == 0) return std::make_exception_ptr(crash(report, launch.kernel, actual));
  const std::string what = text_at(report.what), first = text_at(report.first), last = text_at(report.last);
  const OutOfBounds access{.is_set = true,
                           .thread = report.thread,
                           .offset = report.offset,
                           .bytes = report.bytes,
                           .available = report.available,
                           .front = report.front,
                           .what = what.c_str(),
                           .first = first.c_str(),
                           .last = last.c_str()};
  return std::make_exception_ptr(
      Error(ErrorCode::out_of_bounds, describe(access, launch.kernel, {report.group, nominal.data(), actual.data()})));
}

}  // namespace metalloid::engines::cuda
