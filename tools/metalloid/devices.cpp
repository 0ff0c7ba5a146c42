// `metalloid devices`: what kernels can run on here.
#include "metalloid/device.h"

#include "options.h"
#include "output.h"

namespace metalloid::tool {

void add_devices(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("devices", "Lists the devices that kernels can run on");
  command->footer("The first column is what `metalloid run --device` takes.");
  command->callback([&exit_code] {
    for (const Device& device : Device::choices()) print_result("{:<12}{}\n", device.name(), device.description());
    exit_code = exit_fine;
  });
}

}  // namespace metalloid::tool
