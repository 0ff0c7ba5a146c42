// LLVM's code generator for the CPU that this process runs on.
#pragma once

#include <memory>
#include <string>

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::cpu {

// CPU name and features, for cache keys and for people.
const std::string& cpu_name();
const std::string& cpu_features();

std::unique_ptr<llvm::TargetMachine> make_machine();

// Gives the module the machine's triple and layout, and its functions the machine's CPU and features.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

// LLVM's whole -O2 pipeline, vectorisers included.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);

std::string emit_object(llvm::Module& module, llvm::TargetMachine& machine);
std::string emit_assembly(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::cpu
