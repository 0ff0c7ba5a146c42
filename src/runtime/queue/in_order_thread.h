// A thread that runs functions in the order in which they come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

namespace metalloid::runtime {

// The thread begins with the first function.
class InOrderThread {
 public:
  InOrderThread();
  // What was posted is done, unless it is this thread that lets go.
  ~InOrderThread();
  InOrderThread(const InOrderThread&) = delete;
  InOrderThread& operator=(const InOrderThread&) = delete;

  void post(std::function<void()> work);
  // After a while, behind all that is posted by then. One at a time: another one takes its place.
  void post_later(std::function<void()> work, std::chrono::microseconds delay);
  // What waits for its time never comes.
  void drop_later();
  bool is_this() const;

 private:
  struct Shared;
  void begin();
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace metalloid::runtime
