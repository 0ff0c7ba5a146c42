#include "engines/cuda/run/messages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engines/cuda/run/texts.h"
#include "engines/dispatch_log.h"
#include "engines/log.h"

namespace metalloid::engines::cuda {
namespace {

constexpr std::size_t most_name = 256, most_text = 1024, most_format = 4096;

Address log_of(Address report) {
  Address log = 0;
  driver().check(driver().copy_out(&log, report + offsetof(Report, log), sizeof(log)), "a copy");
  return log;
}

// Messages share their texts.
class Texts {
 public:
  std::string at(std::uint64_t address, std::size_t most) {
    const auto [known, is_new] = known_.try_emplace(address);
    if (is_new) known->second = text_at(address);
    return known->second.substr(0, most);
  }

 private:
  std::unordered_map<std::uint64_t, std::string> known_;
};

std::uint64_t index_of(const std::uint32_t (&group)[3], const ReportedLaunch& launch) {
  const auto groups = [](std::uint64_t grid, std::uint64_t threads) { return (grid + threads - 1) / threads; };
  const Size &grid = launch.threads_per_grid, &threads = launch.threads_per_threadgroup;
  return group[0] + groups(grid.x, threads.x) * (group[1] + groups(grid.y, threads.y) * group[2]);
}

LogLine line_of(const LogRecord& record, const std::byte* behind, Texts& texts, const ReportedLaunch& launch) {
  std::vector<LogArgument> arguments(record.count);
  std::memcpy(arguments.data(), behind, record.count * sizeof(LogArgument));
  std::vector<std::string> named;
  for (const LogArgument& argument : arguments) {
    if (argument.kind == LogArgument::Kind::text) named.push_back(texts.at(argument.values[0], most_text));
  }
  return {.threadgroup = index_of(record.group, launch),
          .thread = record.thread,
          .level = record.level,
          .where = texts.at(record.where, most_format),
          .subsystem = printable(texts.at(record.subsystem, most_name)),
          .category = printable(texts.at(record.category, most_name)),
          .text = format_log(texts.at(record.format, most_format), arguments, named)};
}

}  // namespace

void make_room_for_messages(Address report) {
  if (log_of(report) != 0) return;
  Address log = 0;
  driver().check(driver().allocate(&log, sizeof(LogHead) + log_capacity), "an allocation");
  driver().fill_with_zeros(log, sizeof(LogHead) + log_capacity);
  driver().check(driver().copy_in(report + offsetof(Report, log), &log, sizeof(log)), "a copy");
}

void deliver_messages(Address report, const ReportedLaunch& launch) {
  const Address log = log_of(report);
  if (log == 0) return;
  LogHead head;
  driver().check(driver().copy_out(&head, log, sizeof(head)), "a copy");
  if (head.used == 0) return;
  std::vector<std::byte> bytes(std::min(head.used, log_capacity));
  driver().check(driver().copy_out(bytes.data(), log + sizeof(head), bytes.size()), "a copy");
  driver().fill_with_zeros(log, sizeof(head) + bytes.size());
  Texts texts;
  std::vector<LogLine> lines;
  LogRecord record;
  for (std::size_t at = 0; at + sizeof(record) <= bytes.size(); at += record.bytes) {
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    const bool is_whole =
        record.bytes == sizeof(record) + record.count * sizeof(LogArgument) && record.bytes <= bytes.size() - at;
    if (!is_whole) break;
    lines.push_back(line_of(record, bytes.data() + at + sizeof(record), texts, launch));
  }
  DispatchLog messages;
  messages.add(std::move(lines), head.lost);
  messages.deliver(launch.kernel.name, launch.threads_per_grid, launch.threads_per_threadgroup);
}

}  // namespace metalloid::engines::cuda
