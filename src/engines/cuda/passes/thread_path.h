// The way of a thread through a kernel in which threads have nothing to do with each other, as one list, and what is
// known of how the threads side by side differ on it. What join_threads writes down for several threads at once.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace metalloid::engines::cuda {

// A step of the way.
struct Step {
  enum class Kind : std::uint8_t {
    value,   // an instruction without effects
    load,    //
    store,   //
    check,   // of bounds
    guard,   // the way ends here unless `condition` is `expected`
    choice,  // a number that comes from one of two arms: `condition` ? `if_true` : `if_false`
  };
  Kind kind;
  llvm::Instruction* instruction;
  llvm::Value* condition = nullptr;
  bool expected = true;
  llvm::Value *if_true = nullptr, *if_false = nullptr;
};

// From the entry to the last instruction:
//
//   entry -> guard -> ... -> return         guards end in returns at once
//              `-> return
//
// Arms of branches are on the way, both of them, if they only compute. None if there is anything else: loops, other
// branches, memory of the thread, what threads do together.
std::optional<std::vector<Step>> path_of(llvm::Function& entry);

// How a number of the thread j places behind the first differs from the first's.
struct Difference {
  bool is_same = false;            // and comes of nothing that differs: one computation does for all
  std::optional<std::int64_t> by;  // j times that, in the number's bits
  bool is_exact_unsigned = false;  // nor does it wrap on the way
  bool is_exact_signed = false;
};

// What must be asked, before all threads are taken at once, for differences to be what they are said to be.
enum class Condition : std::uint8_t { none, unsigned_room, signed_room, same_threadgroup };

class Differences {
 public:
  // `nominal` is where the size of threadgroups in x lies in the parameters.
  Differences(const std::vector<Step>& path, llvm::CallInst& thread_x, std::size_t nominal);

  Difference of(llvm::Value* value) const;
  // Of the operand of an extension, or of the division that has the threadgroup's place as its result.
  Condition condition_of(llvm::Instruction* instruction) const;
  // Accesses to a row of elements, one each.
  bool is_row(llvm::Instruction* access) const;

 private:
  Difference of_instruction(llvm::Instruction& instruction);
  Difference of_extension(llvm::CastInst& cast);
  Difference of_address(llvm::GetElementPtrInst& address) const;
  bool is_nominal_size(const llvm::Value* value) const;

  llvm::CallInst& thread_x_;
  std::size_t nominal_;
  llvm::DenseMap<llvm::Value*, Difference> known_;
  llvm::DenseMap<llvm::Instruction*, Condition> conditions_;
};

}  // namespace metalloid::engines::cuda
