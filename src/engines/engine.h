// What an engine is to the runtime: it turns a specialised kernel into bytes, loads them onto its hardware, and runs
// dispatches. Adding an engine touches no other engine and no front end: a folder, and a line in registry.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/hardware.h"
#include "ir/module.h"
#include "ir/passes/inline_functions.h"
#include "metalloid/dispatch.h"
#include "metalloid/reflection.h"

namespace metalloid::checker {
class ScreenedDispatch;
class Watch;
}  // namespace metalloid::checker

namespace metalloid::engines {

// A kernel argument in a dispatch.
struct BoundArgument {
  // Of buffers, and of a tensor's elements. Owner::none: inactive, or an argument of another kind.
  BoundMemory memory;
  // Of tensors, what the parameter is a copy of: the address of the elements, all extents, all strides.
  std::vector<std::int64_t> descriptor;
  std::size_t threadgroup_bytes = 0;  // of threadgroup memory
  bool is_undefined = false;          // nobody has written the memory yet (Buffer::as_undefined)
};

// A checked dispatch, resolved for one kernel.
struct DispatchPlan {
  std::vector<BoundArgument> arguments;  // per kernel argument, in parameter order
  Size threads_per_grid;                 // threadgroups * threads for dispatchThreadgroups
  Size threadgroups_per_grid;            // ceil(threads_per_grid / threads_per_threadgroup)
  Size threads_per_threadgroup;          // nominal; edge threadgroups may be smaller
  std::chrono::milliseconds timeout{0};  // 0: never
  // Of a kernel that was compiled with checks; which one is the engine's.
  checker::Watch* watch = nullptr;
  checker::ScreenedDispatch* screen = nullptr;
};

class Executable {
 public:
  virtual ~Executable() = default;
  // All memory of the plan is in the hardware's, but for bytes that the dispatch owns, which are in the host's.
  // Returns when the kernel has finished. Throws out_of_bounds, kernel_crashed, kernel_timed_out or kernel_interrupted;
  // safe to call from several threads.
  virtual void run(const DispatchPlan& plan) const = 0;
};

enum class CodeForm : std::uint8_t {
  loadable,  // what Engine::load takes
  text,      // for people: `metalloid compile --emit asm`
};

// What became of a kernel at one engine.
struct Compilation {
  std::optional<std::string> code;  // none: the engine does not take this kernel, and its remarks say why
  std::vector<Remark> remarks;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  // Everything about the machine that compiled bytes depend on (CPU name and features): part of cache keys. Engines of
  // equal hardware share it, and so compiled code.
  virtual std::string target() const = 0;
  virtual Hardware& hardware() const = 0;
  // Does early what the first compile would do for all that follow.
  virtual void prepare() const {}
  // Which calls may be left in the modules that it takes.
  virtual ir::InlinePolicy inline_policy() const { return {}; }
  // Takes the specialised, optimised module (ir::specialise).
  virtual Compilation compile(ir::KernelModule kernel, CodeForm form) const = 0;
  virtual std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info) const = 0;
};

}  // namespace metalloid::engines
