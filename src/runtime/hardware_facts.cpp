#include "runtime/hardware_facts.h"

#include <fmt/format.h>

#include "metalloid/error.h"
#include "runtime/states.h"

namespace metalloid::runtime {

std::optional<engines::Peak> peak_of(const Device& device) { return device.state().runners.front().hardware->peak(); }

std::vector<std::pair<std::string, std::string>> resources_of(const Kernel& kernel, std::uint32_t threads) {
  return kernel.state().compiled->executable->resources(threads);
}

bool has_assembler(const Device& device) {
  const engines::Runner& runner = device.state().runners.front();
  return !runner.engine->assembler_for(*runner.hardware).empty();
}

std::string machine_code_of(const Device& device, const std::string& object) {
  const engines::Runner& runner = device.state().runners.front();
  const std::string made = runner.engine->machine_code_of(object, *runner.hardware);
  if (!made.empty()) return made;
  throw Error(ErrorCode::internal,
              fmt::format("the driver of device '{}' makes no machine code of this kernel", device.name()));
}

}  // namespace metalloid::runtime
