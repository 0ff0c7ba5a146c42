#include "engines/registry.h"

#include "engines/reference/reference_engine.h"

namespace metalloid::engines {

const std::vector<std::unique_ptr<Engine>>& all_engines() {
  static const auto* engines = [] {
    auto* list = new std::vector<std::unique_ptr<Engine>>;
    list->push_back(reference::make_engine());
    return list;
  }();
  return *engines;
}

}  // namespace metalloid::engines
