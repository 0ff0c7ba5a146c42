// Constants that are computed: in llvm.global_ctors one entry names the function that computes a constant and, as its
// associated data, the constant. Initialisers run once per kernel, when function constants have their values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

struct Initialiser {
  llvm::GlobalVariable* constant;
  llvm::Function* function;
};

std::vector<Initialiser> find_initialisers(const llvm::Module& module);

// Replaces the list; an empty one goes away, and functions that nobody names any more with it.
void set_initialisers(llvm::Module& module, const std::vector<Initialiser>& initialisers);

// "file.metal:12: constant 'size'", for messages.
std::string describe(const Initialiser& initialiser);

// What became of the globals of a module whose functions ran.
struct InitialiserRun {
  std::vector<std::vector<std::uint8_t>> bytes;               // of each global that was asked for
  std::vector<std::pair<std::string, std::uint64_t>> places;  // addresses of all globals and functions, by name
};

// Code that runs, in a module of its own.
struct InitialiserProgram {
  std::unique_ptr<llvm::Module> module;
  std::vector<std::string> functions;     // to run, in this order
  std::vector<std::string> descriptions;  // of each function, for messages
  std::vector<std::string> globals;       // whose bytes are wanted
};

// Runs a program twice, with the module at different addresses, so that addresses among the bytes can be told from
// numbers. Throws Error that starts with the description of the function that crashes.
using InitialiserRunner = std::vector<InitialiserRun> (*)(InitialiserProgram program);

// ir/ generates no machine code: engines/cpu registers what does, when Metalloid is loaded.
void set_initialiser_runner(InitialiserRunner runner);

// Function constants without a value, and what is computed from them, stay declarations. The symbol of the function
// constant; empty for other globals.
llvm::StringRef undefined_root(const llvm::GlobalVariable& global);
inline bool is_undefined(const llvm::GlobalVariable& global) { return !undefined_root(global).empty(); }

// Whether anything still reads one of them.
bool reads_undefined(const llvm::Module& module);

// Gives all constants of the module that are computed their values.
void evaluate_initialisers(llvm::Module& module);

}  // namespace metalloid::ir
