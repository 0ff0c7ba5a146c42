#include "event.h"

namespace metalloid::torch_device {

void Event::record(Stream& stream) {
  last_ = std::make_shared<Record>();
  stream.call([record = last_] {
    record->time = std::chrono::steady_clock::now();
    record->reached.signal(1);
  });
}

void Event::wait() const {
  if (last_) last_->reached.wait(1);
}

void Event::block(Stream& stream) const {
  if (last_) stream.wait(last_->reached, 1);
}

double milliseconds_between(const Event& from, const Event& to) {
  from.wait();
  to.wait();
  return std::chrono::duration<double, std::milli>(to.time() - from.time()).count();
}

}  // namespace metalloid::torch_device
