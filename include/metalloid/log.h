// What kernels print with os_log (MSL spec §6.19).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "metalloid/dispatch.h"

namespace metalloid {

enum class LogLevel : std::uint8_t { debug, info, standard, error, fault };
// "debug", "info", "default", "error", "fault"
const char* name_of(LogLevel level);

struct LogMessage {
  LogLevel level = LogLevel::standard;
  std::string text;                 // without line feeds at its end; control characters are escaped
  std::string subsystem, category;  // as the kernel's os_log object names them; empty: os_log_default
  std::string kernel;
  Size thread_position_in_grid;
  std::string file;  // of the source, with the line of the call
  std::uint32_t line = 0;
  // 0; in a dispatch's last message the number of messages that did not fit: a dispatch has at most 10,000 of them,
  // with at most 1 MiB of text.
  std::uint64_t lost = 0;

  // "kernel 'add', thread (3, 0, 0), add.metal:7: error: [subsystem:category] text"
  std::string description() const;
};

// Called once per message, on the thread that ran the dispatch, after the dispatch: in the order of threadgroups, and
// in each of them in the order in which the messages were written. What it throws is dropped.
using LogHandler = std::function<void(const LogMessage&)>;
// Without a handler, messages go to standard error. An empty one brings that back.
void set_log_handler(LogHandler handler);

}  // namespace metalloid
