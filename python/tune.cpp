// metalloid._core.tune: threadgroup sizes by measurement. The call model is in metalloid/_tune.py.
#include "metalloid/tune.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arguments.h"
#include "bindings.h"
#include "gil.h"
#include "interrupts.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

ElementType kind_named(const std::string& name) {
  const ElementType type = find_element_type([&](const ElementTypeInfo& info) { return info.name == name; });
  return type <= ElementType::float32 ? type : ElementType::none;  // what Metal has
}

// Element kind ("f32", or "" for what the kernel says) and shape by buffer index.
using Contents = std::map<std::uint32_t, std::pair<std::string, std::vector<std::int64_t>>>;
// Address, length in bytes, element kind.
using ReachedMemories = std::vector<std::tuple<std::uintptr_t, std::size_t, std::string>>;

TuneOptions make_options(const std::vector<Extents>& candidates, double margin, double seconds,
                         std::optional<std::uint32_t> rounds, bool compare, std::optional<double> tolerance, bool force,
                         const std::map<std::uint32_t, std::size_t>& threadgroup_memory_per_thread) {
  TuneOptions options{.margin = margin,
                      .budget = std::chrono::duration<double>(seconds),
                      .rounds = rounds,
                      .compare = compare,
                      .tolerance = tolerance,
                      .force = force,
                      .threadgroup_memory_per_thread = threadgroup_memory_per_thread};
  for (const Extents& candidate : candidates) options.candidates.push_back(size_from(candidate));
  return options;
}

void set_grid(Dispatch& dispatch, const Extents& grid, bool grid_counts_threads, const Extents& group) {
  if (grid_counts_threads) {
    dispatch.threads(size_from(grid), size_from(group));
  } else {
    dispatch.threadgroups(size_from(grid), size_from(group));
  }
}

TuneResult tune_kernel(const Kernel& kernel, const Bindings& bindings, const Extents& grid, bool grid_counts_threads,
                       const Extents& group, TuneOptions options,
                       const std::map<std::uint32_t, std::size_t>& threadgroup_memory, const Contents& contents,
                       const ReachedMemories& reached, std::optional<double> timeout) {
  Dispatch dispatch = make_dispatch(kernel, bindings, threadgroup_memory, timeout);
  set_grid(dispatch, grid, grid_counts_threads, group);
  for (const auto& [index, content] : contents) options.contents[index] = {kind_named(content.first), content.second};
  for (const auto& [address, bytes, kind] : reached) {
    options.reached.push_back({Buffer::wrap(reinterpret_cast<void*>(address), bytes), kind_named(kind)});
  }
  const metalloid_python::InterruptScope interruptible;
  const metalloid_python::GilRelease released;
  return tune(kernel, dispatch, options);
}

nb::tuple extents_of(const Size& size) { return nb::make_tuple(size.x, size.y, size.z); }

const char* name_of_outcome(TuneTrial::Outcome outcome) {
  switch (outcome) {
    case TuneTrial::Outcome::measured: return "measured";
    case TuneTrial::Outcome::different_results: return "different results";
    default: return "failed";
  }
}

}  // namespace

void bind_tune(nb::module_& module) {
  nb::class_<TuneTrial>(module, "TuneTrial")
      .def_prop_ro("group", [](const TuneTrial& trial) { return extents_of(trial.group); })
      .def_prop_ro("outcome", [](const TuneTrial& trial) { return name_of_outcome(trial.outcome); })
      .def_ro("seconds", &TuneTrial::seconds)
      .def_ro("spread", &TuneTrial::spread)
      .def_ro("runs", &TuneTrial::runs)
      .def_ro("note", &TuneTrial::note);
  nb::class_<TuneResult>(module, "TuneResult")
      .def_ro("kernel", &TuneResult::kernel)
      .def_ro("device", &TuneResult::device)
      .def_ro("trials", &TuneResult::trials)
      .def_ro("results_vary", &TuneResult::results_vary)
      .def_ro("from_cache", &TuneResult::from_cache)
      .def_prop_ro("best", [](const TuneResult& result) { return extents_of(result.best()); })
      .def_prop_ro("table", &TuneResult::table)
      .def_prop_ro("summary", &TuneResult::summary);
  nb::class_<TuneOptions>(module, "TuneOptions")
      .def(nb::new_(&make_options), "candidates"_a, "margin"_a, "seconds"_a, "rounds"_a.none(), "compare"_a,
           "tolerance"_a.none(), "force"_a, "threadgroup_memory_per_thread"_a);
  module.def("tune", &tune_kernel, "kernel"_a, "bindings"_a, "grid"_a, "grid_counts_threads"_a, "group"_a, "options"_a,
             "threadgroup_memory"_a, "contents"_a, "reached"_a, "timeout"_a.none());
}
