// Where pointers come from: what the memory is that an access goes to, and where in it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>

#include <functional>
#include <memory>
#include <optional>

namespace metalloid::ir {

class KeptPointers;

//   %p = select i1 %c, ptr %a, ptr %b                     %bytes = select i1 %c, i64 %bytes.of.a, i64 %bytes.of.b
//   loop:                                                 loop:
//     %q = phi ptr [ %p, %entry ], [ %next, %loop ]   ->    %offset = phi i64 [ 0, %entry ], [ %further, %loop ]
//     %next = getelementptr i8, ptr %q, i64 4               %further = add i64 %offset, 4
//
// A pointer leads through steps, casts, selects and phis to roots: arguments, variables, results of calls and loads.
// Values that describe a root (its address, its bytes, its name, ...) are carried along, and so is the offset, in
// integers alone: ScalarEvolution understands them. Pointers that a thread keeps in its variables are found again there
// (kept_pointers.h).
class PointerRoots {
 public:
  struct Root {
    // As many for every root, each of the same type.
    llvm::SmallVector<llvm::Value*, 4> values;
    // Of a root's description: where in the described memory the root itself points. Null: at its beginning.
    llvm::Value* offset = nullptr;
  };
  // The description of a root, by values that are there wherever the root is; nothing for an unknown one.
  using Describe = std::function<std::optional<Root>(llvm::Value& root)>;

  enum class Kept : bool { follow, ignore };

  PointerRoots(llvm::Function& function, Describe describe, Kept kept = Kept::follow);
  ~PointerRoots();

  // What describes the memory that a pointer of the function leads to, there wherever the pointer is. Nothing if it
  // may lead to an unknown root.
  std::optional<llvm::SmallVector<llvm::Value*, 4>> values_of(llvm::Value* pointer);
  // How far behind its root's beginning the pointer is, in bytes; wraps like addresses. 64 bits. To be asked if
  // values_of knows the root.
  llvm::Value* offset_of(llvm::Value* pointer);

 private:
  using Tracked = llvm::SmallVector<llvm::WeakTrackingVH, 4>;
  const std::optional<Root>& describe(llvm::Value* root);
  std::optional<Root> describe_kept(llvm::LoadInst& load);
  llvm::SmallVector<llvm::Value*, 4> merge(llvm::Value* pointer);
  llvm::Value* derive_offset(llvm::Value* pointer);

  llvm::Function& function_;
  Describe describe_;
  Kept follows_kept_;
  std::unique_ptr<KeptPointers> kept_;
  llvm::DenseMap<llvm::Value*, std::optional<Root>> described_;
  llvm::DenseMap<llvm::Value*, std::optional<Tracked>> values_;
  llvm::DenseMap<llvm::Value*, llvm::WeakTrackingVH> offsets_;
};

// The pointer that a pointer is made of by a step, a cast or a freeze; null for roots, phis and selects.
llvm::Value* pointer_below(llvm::Value* pointer);
// What a pointer may lead to, through steps, casts, selects and phis; nothing twice that is in `seen`.
void find_roots(llvm::Value* pointer, llvm::SmallPtrSetImpl<llvm::Value*>& seen,
                llvm::SmallVectorImpl<llvm::Value*>& roots);

}  // namespace metalloid::ir
