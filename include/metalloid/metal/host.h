// What a host interface that stands on Metal's objects brings of its own. PyTorch's device mps is one: its tensors'
// addresses are `id<MTLBuffer>`, and errors are its exceptions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "metalloid/device.h"
#include "metalloid/dispatch.h"

namespace metalloid::metal {

// What a program can do wrong, where Metal and Foundation would end the process.
enum class Fault : std::uint8_t { misuse, type, value, index, not_implemented };

struct Host {
  // The memory of which this is the address, if it is the host's. Asked only for addresses of no object.
  std::optional<Buffer> (*memory_at)(const void* address) = nullptr;
  // Kept by each command buffer of a queue until that is done.
  std::shared_ptr<void> (*hold_memory)() = nullptr;
  // What each dispatch gets besides what was encoded.
  void (*complete)(Dispatch& dispatch) = nullptr;
  // How a source is compiled; `given` is null where the caller said nothing.
  CompileOptions (*compile_options)(const std::string& source, const CompileOptions* given) = nullptr;
  // Throws what the host throws. Without it a fault ends the process, after its text, and an error ends its command
  // buffer.
  void (*raise_fault)(Fault fault, const std::string& message) = nullptr;
  void (*raise_error)(const Error& error) = nullptr;
};

// For the process. Before any object is used.
void set_host(const Host& host);
const Host& host();

// How many kernels encoders have launched so far.
std::uint64_t launches();

// Does not return: throws as the host does, or ends the process.
[[noreturn]] void fail(Fault fault, const std::string& message);

// Errors of Metalloid as the host throws them.
template <typename Work>
void raising(const Work& work) {
  if (!host().raise_error) return work();
  try {
    work();
  } catch (const Error& error) {
    host().raise_error(error);
  }
}

}  // namespace metalloid::metal
