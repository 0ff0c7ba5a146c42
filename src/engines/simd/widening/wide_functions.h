// The functions that a lane's program leads to, and what each becomes for lanes in step.
#pragma once

#include <llvm/IR/Function.h>

#include <map>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "engines/simd/shapes/parameter_shapes.h"

namespace metalloid::engines::simd {

// Which lanes enter a function. In front of what says it are the lane's parameters: those that are uniform or strided
// one value, of others a vector for each part.
enum class Entry : std::uint8_t {
  all_lanes,
  number_of_lanes,  // u32: how many of the first ones
  one_lane,         // the first one
  bits_of_lanes     // u32, at least one: of functions that stay calls, which give back vectors
};

class WideFunctions {
 public:
  // What `lane` becomes, beside it, with all that it calls. Null if the engine leaves the kernel to another one;
  // `remarks` says why, or what costs speed. Functions are made once for all programs that hand them the same shapes.
  llvm::Function* widen(llvm::Function& lane, Entry entry, std::vector<Remark>& remarks);
  // Erases the functions of lanes, once nobody calls them.
  void erase_lanes();

  // Of the program that is being widened.
  llvm::Function& wide(llvm::Function& callee) const { return *current_.at(&callee); }
  const Signature& signature(llvm::Function& wide) const { return signatures_.at(&wide); }

 private:
  llvm::Function& declare(const AnalysedFunction& lane, Entry entry);

  std::map<std::string, llvm::Function*> made_;  // by name and signature
  std::map<const llvm::Function*, llvm::Function*> current_;
  std::map<const llvm::Function*, Signature> signatures_;
  std::vector<llvm::Function*> lanes_;
};

}  // namespace metalloid::engines::simd
