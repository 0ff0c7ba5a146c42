// `metalloid devices`: what kernels can run on here.
#include "metalloid/device.h"

#include <set>
#include <string>

#include "options.h"
#include "output.h"

namespace metalloid::tool {

void add_devices(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("devices", "Lists the devices that kernels can run on");
  command->footer("The first column is what `metalloid run --device` takes.");
  command->callback([&exit_code] {
    std::set<std::string> listed;  // each name once, of engines too
    auto list = [&](const Device& device) {
      if (!listed.insert(device.name()).second) return;
      print_result("{:<12}{}\n", device.name(), device.description());
    };
    for (const Device& device : Device::all()) list(device);
    for (const Device& device : Device::all()) list(Device::named(device.engine()));
    exit_code = exit_fine;
  });
}

}  // namespace metalloid::tool
