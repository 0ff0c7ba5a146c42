// LLVM's code generator for the CPU that this process runs on.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include "engines/engine.h"

namespace metalloid::engines::cpu {

// CPU name and features, for cache keys and for people.
const std::string& cpu_name();
const std::string& cpu_features();

std::unique_ptr<llvm::TargetMachine> make_machine();
// For another processor of the same architecture, by LLVM's name: "haswell".
std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu, const std::string& features = {});

// Gives the module the machine's triple and layout, and its functions the machine's CPU and features.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

// LLVM's whole -O2 pipeline, vectorisers included.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

// Throws what LLVM's diagnostics say; `what` is compiled: "kernel 'f'".
std::string emit(llvm::Module& module, llvm::TargetMachine& machine, CodeForm form, const std::string& what);

}  // namespace metalloid::engines::cpu
