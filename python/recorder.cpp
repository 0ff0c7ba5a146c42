// metalloid._core.record and take_events: what ran and what failed, for the pytest plugin.
#include "metalloid/recorder.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <unordered_map>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

const char* name_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::library: return "library";
    case Event::Kind::kernel: return "kernel";
    default: return "dispatch";
  }
}

nb::tuple extents(const Size& size) { return nb::make_tuple(size.x, size.y, size.z); }

// One string per source, however many events have it.
class Sources {
 public:
  nb::object text_of(const std::shared_ptr<const SourceText>& source) {
    if (!source) return nb::str("");
    nb::object& text = texts_[source.get()];
    // Users' source may be in any encoding.
    if (!text) text = nb::bytes(source->text.data(), source->text.size()).attr("decode")("utf-8", "replace");
    return text;
  }

 private:
  std::unordered_map<const SourceText*, nb::object> texts_;
};

nb::dict describe(const Event& event, Sources& sources) {
  nb::dict entry;
  entry["kind"] = name_of(event.kind);
  entry["device"] = event.device;
  entry["kernel"] = event.kernel;
  entry["source_name"] = event.source ? event.source->name : std::string();
  entry["source"] = sources.text_of(event.source);
  entry["grid"] = extents(event.grid);
  entry["group"] = extents(event.threads_per_threadgroup);
  entry["grid_counts_threads"] = event.grid_counts_threads;
  entry["error"] =
      event.error ? nb::object(nb::str(std::string(metalloid::name_of(*event.error)).c_str())) : nb::object(nb::none());
  entry["message"] = event.message;
  return entry;
}

}  // namespace

void bind_recorder(nb::module_& module) {
  module.def("record", &record, "on"_a);
  // The events since the last call, oldest first, and how many dispatches there were in all.
  module.def("take_events", [] {
    const Events taken = take_events();
    nb::list events;
    Sources sources;
    for (const Event& event : taken.events) events.append(describe(event, sources));
    return nb::make_tuple(events, taken.dispatches);
  });
  module.def("take_operator_dispatches", [] {
    nb::dict counts;
    for (const auto& [kernel, count] : take_operator_dispatches()) counts[kernel.c_str()] = count;
    return counts;
  });
}
