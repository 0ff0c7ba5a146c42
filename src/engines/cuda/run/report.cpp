#include "engines/cuda/run/report.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "engines/out_of_bounds.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

std::string text_at(Address address) {
  std::string text;
  std::array<char, 16> piece;
  while (address != 0 && text.size() < 4096) {
    // Byte by byte where the module's memory ends.
    std::size_t bytes = piece.size();
    if (driver().copy_out(piece.data(), address, bytes) != success) bytes = 1;
    if (bytes == 1 && driver().copy_out(piece.data(), address, bytes) != success) break;
    const std::size_t length = ::strnlen(piece.data(), bytes);
    text.append(piece.data(), length);
    if (length < bytes) break;
    address += bytes;
  }
  return text;
}

std::array<std::uint32_t, 3> triple(const Size& size) { return {size.x, size.y, size.z}; }

}  // namespace

std::exception_ptr take_report(Address address, const ReportedLaunch& launch) {
  Report report;
  driver().check(driver().copy_out(&report, address, sizeof(report)), "a copy");
  driver().fill_with_zeros(address, sizeof(Report));
  if (!report.is_taken) return nullptr;
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
  const auto nominal = triple(launch.threads_per_threadgroup), grid = triple(launch.threads_per_grid);
  std::array<std::uint32_t, 3> actual{};
  for (std::size_t d = 0; d < 3; ++d) actual[d] = std::min(nominal[d], grid[d] - report.group[d] * nominal[d]);
  return std::make_exception_ptr(
      Error(ErrorCode::out_of_bounds, describe(access, launch.kernel, {report.group, nominal.data(), actual.data()})));
}

}  // namespace metalloid::engines::cuda
