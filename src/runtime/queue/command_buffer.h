// What a command buffer holds while it is recorded, waits and runs.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "metalloid/queue.h"
#include "runtime/queue/issue.h"
#include "runtime/queue/line.h"

namespace metalloid {

struct CommandBuffer::State : std::enable_shared_from_this<CommandBuffer::State> {
  using Handler = std::function<void(const CommandBuffer&)>;
  struct Command {
    std::function<void(runtime::Issue&)> carry_out;  // holds what it needs
    std::function<void()> after_failure = {};        // instead, behind the handlers of a list that has failed
    const engines::Hardware* at_once = nullptr;      // hands it over without a wait of the host
  };

  State(Device on, std::shared_ptr<runtime::Line> in) : device(on), line(std::move(in)) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void record(Command command);
  void record(std::shared_ptr<const runtime::PlannedDispatch> work);
  void add_handler(std::vector<Handler>& handlers, Handler handler);
  void enqueue();
  void commit();
  // Whether nobody would have to wait in run().
  bool begins_at_once(const runtime::Issue& issue) const;
  // By the thread that issues.
  void run(runtime::Issue& issue);
  void wait_until(Status least, std::string_view what);
  bool is_done() const;

  const Device device;
  const std::shared_ptr<runtime::Line> line;
  std::vector<Handler> scheduled_handlers, completed_handlers;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::vector<Command> commands;
  Status status = Status::not_enqueued;
  bool handlers_are_done = false;
  std::exception_ptr error;
  std::vector<std::function<void()>> after_failure;
  Times times;

 private:
  void advance(Status next);
  void tell(const std::vector<Handler>& handlers);
  void complete(std::exception_ptr first, runtime::UnderWay::Times when);
  void finish();
};

}  // namespace metalloid
