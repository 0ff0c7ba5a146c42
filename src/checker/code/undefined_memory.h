// The second variables of follow_undefined.h: beside each that may hold something undefined lies one with its undefined
// bits, byte for byte, and one with the numbers of the places where they come from, of four bytes each.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <optional>

#include "checker/code/undefined_sources.h"
#include "ir/support/pointer_roots.h"

namespace metalloid::checker {

class UndefinedMemory {
 public:
  // Code is made where the builder stands. `tells`: with origins.
  UndefinedMemory(llvm::Function& function, const UndefinedSources& sources, llvm::IRBuilder<>& builder, bool tells);

  // Bytes of a variable, from an address on.
  struct Place {
    llvm::Value *bits, *origins;
    llvm::Value* bytes;  // none where an index leads outside, which is checked elsewhere
  };
  // Nothing if the address may lead elsewhere, or never to so many bytes.
  std::optional<Place> place_of(llvm::Value* address, llvm::Value* bytes);
  std::optional<Place> place_of(llvm::Value* address, llvm::Type* type);
  bool has(llvm::AllocaInst& variable) const { return variables_.contains(&variable); }

  // Of a value of that type. `place` is where its bits lie.
  llvm::Value* load_bits(llvm::Type* type, llvm::Value* place);
  void store_bits(llvm::Type* type, llvm::Value* bits, llvm::Value* place);
  // Of all bytes of a place: the first that is known of so many, or `own`.
  llvm::Value* load_origin(const Place& place, std::uint64_t bytes, llvm::Value* own);
  void store_origin(llvm::Value* origin, const Place& place, std::uint64_t bytes);
  void copy(const Place& from, const Place& to);
  void set_written(const Place& place);
  void set_written(llvm::AllocaInst& variable);
  // What is undefined is zero, so that LLVM does not choose.
  void clear(llvm::AllocaInst& variable);

 private:
  struct Variable {
    llvm::AllocaInst *bits, *origins;
    std::uint64_t size;
  };
  void add(llvm::AllocaInst& variable);
  void begin(llvm::AllocaInst& variable, const Variable& own, bool undefined);
  void fill_gaps(llvm::Type* type, const Variable& own);
  void mark_members(llvm::Type* type, std::uint64_t at, llvm::MutableArrayRef<std::uint8_t> mask);
  llvm::Value* without_checks(llvm::Value* address);
  std::optional<ir::PointerRoots::Root> describe(llvm::Value& root);
  llvm::Type* stored_type(llvm::Type* type);

  const llvm::DataLayout& layout_;
  const UndefinedSources& sources_;
  llvm::IRBuilder<>& builder_;
  const bool tells_;
  llvm::DenseMap<llvm::AllocaInst*, Variable> variables_;
  ir::PointerRoots roots_;
};

}  // namespace metalloid::checker
