#include "engines/cuda/driver/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "metalloid/error.h"
#include "support/made_once.h"

namespace metalloid::engines::cuda {
namespace {

// CUDA 12.0: the first whose PTX the engine's code needs.
constexpr int oldest_version = 12000;

Driver open_driver() {
  Driver driver;
  const char* const chosen = std::getenv("METALLOID_CUDA_DRIVER");  // another in its place, for tests
  void* const library = ::dlopen(chosen && *chosen ? chosen : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return driver;
  const char* missing = nullptr;
#define FUNCTION(name, symbol, ...)                                                \
  driver.name = reinterpret_cast<int (*)(__VA_ARGS__)>(::dlsym(library, #symbol)); \
  if (!driver.name) missing = #symbol;
#include "engines/cuda/driver/functions.def"
  if (missing) {
    driver.problem = fmt::format("NVIDIA's driver is too old: it has no {}", missing);
    return driver;
  }
  if (driver.driver_version(&driver.version) != success || driver.version < oldest_version) {
    driver.problem = fmt::format("NVIDIA's driver is of CUDA {}.{}; {}.{} at least is needed", driver.version / 1000,
                                 driver.version % 1000 / 10, oldest_version / 1000, oldest_version % 1000 / 10);
    return driver;
  }
  Dl_info place;
  if (::dladdr(reinterpret_cast<const void*>(driver.initialise), &place) != 0 && place.dli_fname) {
    std::error_code error;
    driver.file = std::filesystem::canonical(place.dli_fname, error).filename().string();
  }
  int result = driver.initialise(0);
  if (result == success) result = driver.device_count(&driver.devices);
  if (result != success) {
    driver.devices = 0;
    driver.problem = "NVIDIA's driver says " + driver.describe(result);
  }
  return driver;
}

}  // namespace

std::string Driver::describe(int result) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name(result, &name) != success || !name) return fmt::format("error {}", result);
  if (error_text(result, &text) != success || !text) return name;
  return fmt::format("{}: {}", name, text);
}

void Driver::check(int result, std::string_view what) const {
  if (result == success) return;
  if (result == out_of_memory) throw std::bad_alloc();
  // Of a kernel before, and of all that asks for its context from now on.
  const bool has_crashed = result == illegal_address || (result >= first_crash && result <= last_crash);
  throw Error(has_crashed ? ErrorCode::kernel_crashed : ErrorCode::internal,
              fmt::format("{} on the GPU failed: {}{}", what, describe(result),
                          has_crashed ? "; this process cannot use it any more" : ""));
}

void Driver::fill_with_zeros(Address address, std::size_t bytes) const {
  check(set_bytes(address, 0, bytes), "a fill");
  check(stream_finish(nullptr), "a fill");
}

void Driver::copy_and_wait(Address to, const void* from, std::size_t bytes) const {
  check(copy_in(to, from, bytes), "a copy");
  check(stream_finish(nullptr), "a copy");
}

const Driver& driver() {
  static constinit support::MadeOnce<Driver> opened;
  return opened.get(open_driver);
}

}  // namespace metalloid::engines::cuda
