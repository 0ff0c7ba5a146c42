// What an engine is to the runtime: it turns a specialised kernel into bytes for a target, loads them onto hardware of
// that kind, and runs dispatches. Adding an engine touches no other engine and no front end: a folder, and a line in
// registry.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/hardware.h"
#include "ir/module.h"
#include "ir/passes/inline_functions.h"
#include "ir/passes/take_operations.h"
#include "metalloid/dispatch.h"
#include "metalloid/reflection.h"

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
  std::vector<BoundMemory> used;         // what pointers in arguments' memory lead to
  Size threads_per_grid;                 // threadgroups * threads for dispatchThreadgroups
  Size threadgroups_per_grid;            // ceil(threads_per_grid / threads_per_threadgroup)
  Size threads_per_threadgroup;          // nominal; edge threadgroups may be smaller
  std::chrono::milliseconds timeout{0};  // 0: never
  std::string label;                     // Dispatch::label()
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Whether its code is for dispatches of that shape: if it was compiled for a usual target, it need not be for all.
  virtual bool takes(const DispatchPlan& /*plan*/) const { return true; }
  // Whether nothing but memory that several arguments have, one of them to write to it, is in the way of that.
  virtual bool takes_but_for_overlaps(const DispatchPlan& /*plan*/) const { return false; }
  // Whether code for threadgroups of the plan's size alone (Engine::target_for_size) does better.
  virtual bool gains_by_size(const DispatchPlan& /*plan*/) const { return false; }
  // What its code allows, whatever the hardware does: what a thread needs of registers or memory counts.
  virtual std::uint32_t max_threads_per_threadgroup() const = 0;
  // The hardware can reach all memory of the plan, but for bytes that the dispatch owns, which are in the host's.
  // Returns when the kernel has finished. Throws out_of_bounds, kernel_crashed, kernel_timed_out or kernel_interrupted;
  // safe to call from several threads.
  virtual void run(const DispatchPlan& plan) const = 0;
  // So many runs one after the other, and how long they took by the hardware's own clock. Nothing, and nothing done, if
  // it has none. Throws as run().
  virtual std::optional<std::chrono::duration<double>> time(const DispatchPlan& /*plan*/,
                                                            std::uint32_t /*calls*/) const {
    return std::nullopt;
  }
  // What a threadgroup of so many threads takes of the hardware, for people: {"registers", "72"}.
  virtual std::vector<std::pair<std::string, std::string>> resources(std::uint32_t /*threads*/) const { return {}; }
};

enum class CodeForm : std::uint8_t {
  loadable,  // what Engine::load takes
  text,      // for people: `metalloid compile --emit asm`
};

// What an engine's kernels can tell the checker, if they are compiled with checks (engines/checked_executable.h).
enum class CheckRole : std::uint8_t {
  none,     // such code is not for it
  screens,  // whether anything may be wrong
  tells,    // what is wrong, and where
};

// What became of a kernel at one engine.
struct Compilation {
  std::optional<std::string> code;  // none: the engine does not take this kernel, and its remarks say why
  std::vector<Remark> remarks;
};

// Where what a driver has made of a kernel's code is kept for processes to come.
class AssemblyStore {
 public:
  virtual ~AssemblyStore() = default;
  virtual std::optional<std::string> read() const = 0;
  virtual void write(std::string_view assembly) const = 0;
};

// Has no hardware: the same engine compiles in a process that knows none, and runs on all that is there.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;  // without hardware: "one lane at a time"
  virtual CheckRole check_role() const { return CheckRole::none; }
  // All that compiled bytes depend on (processor, bounds checks), of hardware that the engine runs on: goes to the
  // compiler's process, and is part of cache keys. Equal hardware has one target, and so shares compiled code.
  virtual std::string target_for(const Hardware& hardware) const = 0;
  // The same for code that may leave out what few dispatches need, where to make all takes long.
  virtual std::string usual_target_for(const Hardware& hardware) const { return target_for(hardware); }
  // The same for code that takes arguments whose memory overlaps, if usual code of this engine need not.
  virtual std::string target_for_overlaps(const Hardware& hardware) const { return usual_target_for(hardware); }
  // The same for code that threadgroups of that size alone take, if an executable of this engine gains by it.
  virtual std::string target_for_size(const Hardware& hardware, const Size& /*threads*/) const {
    return usual_target_for(hardware);
  }
  // Does early what the first compile would do for all that follow.
  virtual void prepare() const {}
  // Which calls may be left in the modules that it takes.
  virtual ir::InlinePolicy inline_policy() const { return {}; }
  // Which operations on matrices in memory and on tiles it takes as they are. Kernels with checks have none.
  virtual ir::OperationPolicy operation_policy(const std::string& /*target*/) const { return {}; }
  // Takes the specialised, optimised module (ir::specialise). Asks nothing of the machine that it runs on.
  virtual Compilation compile(ir::KernelModule kernel, CodeForm form, const std::string& target) const = 0;
  // Who makes of compiled bytes what the hardware runs, where that is done in this process (its driver) and takes long:
  // part of the key under which the result is kept. Empty: nobody has to.
  virtual std::string assembler_for(const Hardware& /*hardware*/) const { return {}; }
  // What that makes of them, as the hardware's own tools read it; empty if it cannot.
  virtual std::string machine_code_of(std::span<const char> /*bytes*/, Hardware& /*hardware*/) const { return {}; }
  // The bytes are of a target of this hardware. `store`: none if nothing is kept, or nobody has to assemble.
  virtual std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware,
                                           std::unique_ptr<const AssemblyStore> store) const = 0;
};

// A way to run kernels. Both live as long as the process.
struct Runner {
  const Engine* engine = nullptr;
  Hardware* hardware = nullptr;

  std::string target() const { return engine->target_for(*hardware); }
  std::string usual_target() const { return engine->usual_target_for(*hardware); }
  std::string description() const { return engine->description() + ", on " + hardware->description(); }
  bool operator==(const Runner&) const = default;
};

}  // namespace metalloid::engines
