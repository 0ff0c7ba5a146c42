#include "engines/cpu_shared/hardware.h"

#include <fmt/format.h>

#include <thread>

#include "engines/cpu_shared/code/machine.h"
#include "engines/host_memory.h"
#include "support/made_once.h"
#include "support/watchdog.h"

namespace metalloid::engines::cpu {
namespace {

class HostHardware : public Hardware {
 public:
  std::string description() const override {
    return fmt::format("{} x {}", std::thread::hardware_concurrency(), cpu::processor().name);
  }
  std::string processor() const override { return cpu::processor().text(); }
  Memory& memory() override { return host_memory(); }
  Memory& shared_memory() override { return host_memory(); }
  bool can_reach(const Memory& memory) const override { return memory.host_can_reach(); }
  void interrupt() noexcept override { support::interrupt_watched(); }
};

}  // namespace

Hardware& hardware() {
  static constinit support::MadeOnce<HostHardware> host;
  return host.get([] { return HostHardware(); });
}

}  // namespace metalloid::engines::cpu
