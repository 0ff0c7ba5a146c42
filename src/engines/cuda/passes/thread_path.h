// The way of a thread through a kernel in which threads have nothing to do with each other, or through a turn of a
// loop, as one list, and what is known of how the threads side by side differ on it. What join_threads and join_turns
// write down for several at once.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
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

// Of a turn of a loop of two blocks, the first of which has the test: all but that, phis and branches.
std::optional<std::vector<Step>> path_of_turn(const llvm::Loop& loop);

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
  // Of turns at neighbours of a counter that is below 2^31, what comes from outside of the loop being the same.
  Differences(const std::vector<Step>& path, llvm::PHINode& counter, const llvm::Loop& loop);

  Difference of(llvm::Value* value) const;
  // Of the operand of an extension, or of the division that has the threadgroup's place as its result.
  Condition condition_of(llvm::Instruction* instruction) const;
  // Accesses to a row of elements, one each.
  bool is_row(llvm::Instruction* access) const;

 private:
  void follow(const std::vector<Step>& path);
  Difference of_instruction(llvm::Instruction& instruction);
  Difference of_extension(llvm::CastInst& cast);
  Difference of_address(llvm::GetElementPtrInst& address) const;
  bool is_nominal_size(const llvm::Value* value) const;

  llvm::Instruction& index_;
  const llvm::Loop* loop_ = nullptr;
  std::size_t nominal_ = 0;
  llvm::DenseMap<llvm::Value*, Difference> known_;
  llvm::DenseMap<llvm::Instruction*, Condition> conditions_;
};

}  // namespace metalloid::engines::cuda
