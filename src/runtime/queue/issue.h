// Where the work of a queue goes, one piece after the other.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engines/engine.h"
#include "engines/stream.h"
#include "runtime/queue/planned_dispatch.h"

namespace metalloid::runtime {

// Dispatches that hardware carries out, and what is known of them when they are done.
class UnderWay {
 public:
  using Times = engines::Completion::Times;

  // Keeps the dispatch until it was waited for.
  void add(std::shared_ptr<engines::Completion> completion, std::shared_ptr<const PlannedDispatch> work);
  void add(Times times);  // of what is done
  void add(UnderWay later);
  std::size_t size() const { return dispatches_.size() - next_; }
  bool is_done() const;
  // Lets go of those at the front that have ended, but for the memory that they keep. The first error is what the first
  // threw, if there is none yet. Returns how many.
  std::size_t let_go_of_ended(std::size_t most, std::exception_ptr& first_error, std::vector<Buffer>& memory);
  // For all. What each threw is told to the recorder; returns the first.
  std::exception_ptr wait();
  // From the first's begin to the last's end, once waited for. Without any: now.
  Times times() const;

 private:
  struct Dispatch {
    std::shared_ptr<engines::Completion> completion;
    std::shared_ptr<const PlannedDispatch> work;
  };
  void note_end(const Dispatch& dispatch, std::exception_ptr& first_error);

  std::vector<Dispatch> dispatches_;
  std::size_t next_ = 0;  // of them: those in front are let go
  Times times_;
  bool has_times_ = false;
};

// Used by one thread at a time. What is given begins when all before it is done.
class Issue {
 public:
  // Throws what work before it has thrown, and what the kernel throws where it is done at once.
  void dispatch(std::shared_ptr<const PlannedDispatch> work);
  // Whether a dispatch on that hardware would be handed over without a wait.
  bool takes_at_once(const engines::Hardware& hardware) const { return !hardware_ || hardware_ == &hardware; }
  // As dispatch(), of what that hardware takes at once: returns what is to be waited for.
  std::shared_ptr<engines::Completion> hand_over(const PlannedDispatch& work, engines::Timing timing);
  // The host's own.
  void call(const std::function<void()>& work);
  // Waits for all that was given. Throws the first error since the last call.
  void drain();
  // What was given since the last call, for somebody else to wait for; what is given next begins behind it all the
  // same.
  UnderWay take();

 private:
  engines::Stream& stream_of(engines::Hardware& hardware);

  std::map<engines::Hardware*, std::unique_ptr<engines::Stream>> streams_;
  engines::Hardware* hardware_ = nullptr;  // of what is not known to be done
  std::shared_ptr<engines::Completion> last_;
  UnderWay under_way_;
};

}  // namespace metalloid::runtime
