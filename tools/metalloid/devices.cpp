// `metalloid devices`: what kernels can run on here.
#include "metalloid/device.h"

#include <algorithm>
#include <vector>

#include "options.h"
#include "output.h"

namespace metalloid::tool {

void add_devices(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("devices", "Lists the devices that kernels can run on");
  command->footer("The first column is what `metalloid run --device` takes.");
  command->callback([&exit_code] {
    const std::vector<Device> devices = Device::choices();
    std::size_t longest = 10;
    for (const Device& device : devices) longest = std::max(longest, device.name().size());
    for (const Device& device : devices) print_result("{:<{}}{}\n", device.name(), longest + 2, device.description());
    exit_code = exit_fine;
  });
}

}  // namespace metalloid::tool
