// at::mps::MPSEvent, whose Metal event is a place in a stream's work, and its pool.
#include <ATen/mps/MPSEvent.h>
#include <c10/util/Exception.h>

#include "../device/errors.h"
#include "../device/event.h"
#include "../device/streams.h"

namespace at::mps {

namespace {

using metalloid::torch_device::Event;

Event& state_of(MTLSharedEvent_t event) { return *static_cast<Event*>(event); }
metalloid::Stream& work_of(const MPSStream* stream) { return metalloid::torch_device::work_of(stream->unwrap().id()); }

}  // namespace

MPSEvent::MPSEvent(id_t ID, MPSStream* stream, bool enable_timing)
    : m_id(ID), m_enable_timing(enable_timing), m_stream(stream), m_event(new Event) {}

MPSEvent::~MPSEvent() { delete &state_of(m_event); }

void MPSEvent::record(bool, bool) {
  m_signal_stream = m_stream;
  state_of(m_event).record(work_of(m_stream));
  ++m_signalCounter;
  m_recorded = true;
}

bool MPSEvent::wait(bool, bool, MPSStream* stream) {
  if (!m_recorded) return false;
  state_of(m_event).block(work_of(stream ? stream : m_stream));
  return true;
}

bool MPSEvent::query() const { return m_recorded && state_of(m_event).is_reached(); }

bool MPSEvent::synchronize() {
  state_of(m_event).wait();
  metalloid::torch_device::raise_reported_error();
  return m_recorded;
}

void MPSEvent::reset(MPSStream* stream, bool enable_timing) {
  m_stream = stream;
  m_enable_timing = enable_timing;
  m_recorded = false;
  state_of(m_event).forget();
}

MPSEventPtrTarget::~MPSEventPtrTarget() { m_pool->returnEventToPool(m_event); }

MPSEventPool::MPSEventPool(MPSStream* default_stream) : m_default_stream(default_stream) {}

MPSEventPool::~MPSEventPool() { m_in_use_events.clear(); }

MPSEventPtr MPSEventPool::acquireEvent(bool enable_timing, MPSStream* stream) {
  const std::lock_guard lock(m_mutex);
  MPSStream* const of = stream ? stream : m_default_stream;
  if (m_pool.empty()) {
    return c10::make_intrusive<MPSEventPtrTarget>(new MPSEvent(++m_event_counter, of, enable_timing), this);
  }
  MPSEvent* event = m_pool.top().release();
  m_pool.pop();
  event->reset(of, enable_timing);
  return c10::make_intrusive<MPSEventPtrTarget>(event, this);
}

void MPSEventPool::emptyCache() {
  const std::lock_guard lock(m_mutex);
  m_pool = {};
}

id_t MPSEventPool::acquireEvent(bool enable_timing) {
  const std::lock_guard lock(m_mutex);
  MPSEventPtr event = acquireEvent(enable_timing, nullptr);
  const id_t id = event->getID();
  m_in_use_events.emplace(id, std::move(event));
  return id;
}

void MPSEventPool::releaseEvent(id_t event_id) {
  MPSEventPtr last;  // goes back when the table is whole again
  const std::lock_guard lock(m_mutex);
  TORCH_CHECK(m_in_use_events.count(event_id) > 0, "Invalid Event ID: ", event_id);
  last = std::move(m_in_use_events[event_id]);
  m_in_use_events.erase(event_id);
}

void MPSEventPool::resetEvent(id_t event_id, MPSStream* stream, bool enable_timing) {
  getInUseEvent(event_id)->reset(stream, enable_timing);
}

void MPSEventPool::recordEvent(id_t event_id, bool syncEvent) { getInUseEvent(event_id)->record(true, syncEvent); }

void MPSEventPool::waitForEvent(id_t event_id, bool syncEvent, MPSStream* stream) {
  getInUseEvent(event_id)->wait(true, syncEvent, stream);
}

void MPSEventPool::synchronizeEvent(id_t event_id) { getInUseEvent(event_id)->synchronize(); }

bool MPSEventPool::queryEvent(id_t event_id) { return getInUseEvent(event_id)->query(); }

double MPSEventPool::elapsedTime(id_t start_event_id, id_t end_event_id) {
  const MPSEvent* const from = getInUseEvent(start_event_id);
  const MPSEvent* const to = getInUseEvent(end_event_id);
  TORCH_CHECK(from->isTimingEnabled() && to->isTimingEnabled(),
              "Events were not created with argument 'enable_timing=True'");
  TORCH_CHECK(from->isRecorded() && to->isRecorded(), "Events must be recorded before calculating elapsed time.");
  const double time = metalloid::torch_device::milliseconds_between(state_of(from->m_event), state_of(to->m_event));
  metalloid::torch_device::raise_reported_error();
  return time;
}

void MPSEventPool::returnEventToPool(MPSEvent* event) {
  const std::lock_guard lock(m_mutex);
  m_pool.emplace(event);
}

MPSEvent* MPSEventPool::getInUseEvent(id_t event_id, bool) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_in_use_events.find(event_id);
  TORCH_CHECK(found != m_in_use_events.end(), "Invalid Event ID: ", event_id);
  return found->second->get();
}

std::shared_ptr<MPSEventPool> getMPSEventPool() {
  // Never destroyed: events in statics of other libraries go back to it.
  static auto& pool = *new std::shared_ptr<MPSEventPool>(new MPSEventPool(getDefaultMPSStream()));
  return pool;
}

}  // namespace at::mps
