// Metalloid's disk cache for what Python compiles: extensions that are loaded into the process.
#include <nanobind/nanobind.h>

#include <string_view>

#include "bindings.h"
#include "runtime/cache/disk_cache.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace metalloid;

namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

}  // namespace

void bind_cache(nb::module_& module) {
  module.def(
      "read_cached_extension",
      [](const nb::bytes& key) -> nb::object {
        const auto entry = runtime::read_cache_entry(runtime::EntryKind::extension, support::hash_of(view(key)));
        return entry ? nb::bytes(entry->view().data(), entry->view().size()) : nb::object(nb::none());
      },
      "key"_a);
  module.def(
      "write_cached_extension",
      [](const nb::bytes& key, const nb::bytes& binary) {
        runtime::write_cache_entry(runtime::EntryKind::extension, support::hash_of(view(key)), view(binary));
      },
      "key"_a, "binary"_a);
}
