#include "engines/dispatch_log.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "engines/log.h"

namespace metalloid::engines {
namespace {

Size position_in_grid(const LogLine& line, const Size& grid, const Size& nominal) {
  const std::uint64_t x = (std::uint64_t{grid.x} + nominal.x - 1) / nominal.x;
  const std::uint64_t y = (std::uint64_t{grid.y} + nominal.y - 1) / nominal.y;
  const Size group{static_cast<std::uint32_t>(line.threadgroup % x),
                   static_cast<std::uint32_t>(line.threadgroup / x % y),
                   static_cast<std::uint32_t>(line.threadgroup / x / y)};
  // Threadgroups at the grid's edge are smaller.
  const std::uint32_t width = std::min(nominal.x, grid.x - group.x * nominal.x);
  const std::uint32_t height = std::min(nominal.y, grid.y - group.y * nominal.y);
  return {group.x * nominal.x + line.thread % width, group.y * nominal.y + line.thread / width % height,
          group.z * nominal.z + line.thread / width / height};
}

}  // namespace

void DispatchLog::add(std::vector<LogLine> lines, std::uint64_t lost) {
  lost_ += lost;
  lines_.insert(lines_.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  if (lines_.size() > 4 * most_log_messages) shorten();
}

// To what the first threadgroups printed.
void DispatchLog::shorten() {
  std::ranges::stable_sort(lines_, {}, &LogLine::threadgroup);
  std::size_t kept = 0, bytes = 0;
  while (kept < lines_.size() && kept < most_log_messages && bytes + lines_[kept].text.size() <= most_log_bytes) {
    bytes += lines_[kept++].text.size();
  }
  lost_ += lines_.size() - kept;
  lines_.resize(kept);
}

void DispatchLog::deliver(const std::string& kernel, const Size& threads_per_grid,
                          const Size& threads_per_threadgroup) {
  if (lines_.empty() && lost_ == 0) return;
  shorten();
  for (LogLine& line : lines_) {
    LogMessage message;
    message.level = static_cast<LogLevel>(std::min<std::uint32_t>(line.level, 4));
    message.subsystem = std::move(line.subsystem);
    message.category = std::move(line.category);
    message.text = std::move(line.text);
    message.kernel = kernel;
    message.thread_position_in_grid = position_in_grid(line, threads_per_grid, threads_per_threadgroup);
    const std::string_view where = line.where;
    if (const std::size_t colon = where.rfind(':'); colon != std::string_view::npos) {
      message.file = where.substr(0, colon);
      std::from_chars(where.data() + colon + 1, where.data() + where.size(), message.line);
    }
    deliver_log(message);
  }
  if (lost_ == 0) return;
  LogMessage rest;
  rest.level = LogLevel::error;
  rest.kernel = kernel;
  rest.lost = lost_;
  deliver_log(rest);
}

}  // namespace metalloid::engines
