// What the SIMD engine has to say of places in the source.
#pragma once

#include <llvm/IR/DebugLoc.h>

#include <string>
#include <vector>

#include "engines/engine.h"

namespace metalloid::engines::simd {

// Of code that was inlined, where the kernel itself calls it.
Remark remark_at(const llvm::DebugLoc& place, std::string reason);

// Each once, though a line becomes many instructions.
class Remarks {
 public:
  void add(const llvm::DebugLoc& place, std::string reason);
  std::vector<Remark> take() { return std::move(list_); }  // in the source's order

 private:
  std::vector<Remark> list_;
};

}  // namespace metalloid::engines::simd
