// LLVM's code generator for the CPU that this process runs on, or an older one of its kind.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "engines/engine.h"

namespace metalloid::engines::cpu {

// What code is made for, as LLVM names it: for cache keys and for people.
struct Processor {
  std::string name, features;
  std::string text() const { return name + ";" + features; }
};

// $METALLOID_CPU: "native" (as when unset), or a processor all of whose instructions this one has. Throws
// invalid_argument for others.
const Processor& processor();

// What the first machine of a process does for all that follow.
void prepare_code_generation();

// For the processor that this process runs on.
std::unique_ptr<llvm::TargetMachine> make_machine();
// For another processor of the same architecture, by LLVM's name: "haswell".
std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu, const std::string& features = {});

// How long its registers for vectors are.
unsigned vector_register_bits(const llvm::TargetMachine& machine);

// Gives the module the machine's triple and layout, and its functions the machine's CPU and features.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

// LLVM's whole -O2 pipeline, vectorisers included.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

// Whether the module has a function so long that machine code is made quickly: it runs up to 1.3 times as long.
bool is_made_quickly(const llvm::Module& module, const llvm::TargetMachine& machine);

// Throws what LLVM's diagnostics say; `what` is compiled: "kernel 'f'".
std::string emit(llvm::Module& module, llvm::TargetMachine& machine, CodeForm form, const std::string& what);

}  // namespace metalloid::engines::cpu
