// What the public handles Device, Library and Kernel hold.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "frontend/frontend.h"
#include "metalloid/metalloid.h"
#include "metalloid/recorder.h"
#include "support/hash.h"

namespace metalloid {

namespace runtime {
class LibraryParts;
}

struct Device::State {
  std::string name;
  std::string description;
  std::string first_engine;
  std::vector<engines::Runner> runners;  // that are asked to take its kernels, in this order
};

struct Library::State {
  const Device::State* device = nullptr;
  // Without code, and without what only bodies tell, if there are parts.
  std::string bitcode;
  LibraryInfo info;
  std::shared_ptr<runtime::LibraryParts> parts;
  support::Hash content;  // of all that kernels are made from
  std::string warnings;
  bool from_cache = false;
  std::chrono::microseconds making_time{};  // of a processor, where it was compiled
  std::shared_ptr<const SourceText> source;
  CompileOptions options;
  std::vector<frontend::Dependency> dependencies;  // what was read besides the source
};

namespace runtime {

// What equal kernels on the same hardware share, whichever handle or device name asked for them.
struct CompiledKernel {
  KernelInfo info;
  engines::Runner runner;  // that took it
  std::string engine_name;
  std::vector<Remark> remarks;
  std::unique_ptr<engines::Executable> executable;
};

// Code that knows the size of threadgroups. None: there is no such code, or it does not take what the kernel's own
// does.
struct SizedCode {
  Size threads;
  std::shared_ptr<const CompiledKernel> code;
  std::optional<Remark> remark;  // why there is none
};

// Code that a dispatch asks for, once one has.
struct LaterCode {
  std::atomic<const CompiledKernel*> ready = nullptr;
  std::shared_ptr<const CompiledKernel> owner;
};

}  // namespace runtime

struct Kernel::State {
  const Device::State* device = nullptr;
  std::shared_ptr<const runtime::CompiledKernel> compiled;
  // For what that does not take: arguments whose memory overlaps, where that is all; and anything.
  mutable runtime::LaterCode overlapping, complete;
  // For dispatches in threadgroups of one size, where that does better: as many sizes as come first.
  mutable std::array<runtime::SizedCode, 16> sized;
  mutable std::atomic<std::size_t> sizes = 0;
  support::Hash content;  // of the library, the constants, the device's target and Metalloid: what its code depends on
  bool from_cache = false;
  std::shared_ptr<const SourceText> source;
  // What it was made of, for its checked form.
  std::shared_ptr<const Library::State> library;
  FunctionConstants constants;
};

}  // namespace metalloid
