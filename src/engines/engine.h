// What an engine is to the runtime: it turns a specialised kernel into bytes, loads them, and runs dispatches.
// Adding an engine touches no other engine and no front end.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/inline_functions.h"
#include "ir/module.h"
#include "metalloid/dispatch.h"
#include "metalloid/reflection.h"

namespace metalloid::engines {

// A checked dispatch, resolved for one kernel.
struct DispatchPlan {
  // Per kernel argument in parameter order. Buffers: address (null if inactive). Tensors: address of the
  // descriptor that the parameter is a copy of, which holds the address of the elements. Others: null.
  std::vector<void*> buffers;
  // Per kernel argument in parameter order. Threadgroup memory: bytes. Others: 0.
  std::vector<std::size_t> threadgroup_lengths;
  Size threads_per_grid;                 // threadgroups * threads for dispatchThreadgroups
  Size threadgroups_per_grid;            // ceil(threads_per_grid / threads_per_threadgroup)
  Size threads_per_threadgroup;          // nominal; edge threadgroups may be smaller
  std::chrono::milliseconds timeout{0};  // 0: never
};

class Executable {
 public:
  virtual ~Executable() = default;
  // Throws kernel_crashed, kernel_timed_out or kernel_interrupted; safe to call from several threads.
  virtual void run(const DispatchPlan& plan) const = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;
  virtual std::string description() const = 0;
  // Everything about the machine that compiled bytes depend on (CPU name and features): part of cache keys.
  virtual std::string target() const = 0;
  // Does early what the first compile would do for all that follow.
  virtual void prepare() const {}
  // Which calls may be left in the modules that it takes.
  virtual ir::InlinePolicy inline_policy() const { return {}; }
  // Takes the specialised, optimised module (ir::specialise) to loadable bytes.
  virtual std::string compile(ir::KernelModule kernel) const = 0;
  virtual std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info) const = 0;
  // Human-readable code for `metalloid compile --emit asm`.
  virtual std::string assembly(ir::KernelModule kernel) const = 0;
};

}  // namespace metalloid::engines
