// How a value of a lane's program differs from lane to lane of a simdgroup.
//
//   uniform    one value for all lanes
//   strided    lane i has first + i * stride, in the value's own arithmetic; the stride is known
//   varying    anything
//
// A shape says what memory an access touches: one place, a row, a row with gaps, or places anywhere. What is uniform is
// LLVM's uniformity analysis (lane_target.h says what starts out different); strides follow from arithmetic.
//
// Arithmetic of 32 bits may wrap between two lanes, and what is extended to 64 bits then is no row:
//
//   ulong(n - i)    with n = 3: 3, 2, 1, 0, 4294967295, ...
//
// As memory it is one all the same, for lanes on the far side lie 4 GiB away, where no kernel means to be as well. So
// such values have strides that `may_wrap`: accesses may count on them behind a check of bounds that asks
// (widening/checks.cpp), arithmetic must not.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace metalloid::engines::simd {

struct Shape {
  enum class Kind : std::uint8_t { uniform, strided, varying };
  Kind kind = Kind::varying;
  std::int64_t stride = 0;  // of addresses in bytes
  bool may_wrap = false;    // a sum that the value was extended from
  bool operator==(const Shape&) const = default;
};

// How a value depends on the bits of the lane's number (five, of which the upper ones are always 0 where fewer lanes
// run in step, so that nothing grows with them): by how much it grows with each, whatever the others are. Lanes that
// differ in known bits only lie in a row of memory, or at one place, wherever the others lie: lanes of one row of a
// small threadgroup, or of one row of a simdgroup matrix.
struct LaneBits {
  std::array<std::optional<std::int64_t>, 5> growth;  // nothing: not known
  // Lane 0's value has at least so many zeros at its end.
  unsigned zeros = 0;
  bool may_wrap = false;  // as shapes
  bool operator==(const LaneBits&) const = default;
  bool is_known() const;
  // Whether each bit of the lane is one of the value's lowest `width` bits, at a place of its own where lane 0 has a
  // zero.
  bool is_apart(unsigned width) const;
};

class LaneShapes {
 public:
  LaneShapes(llvm::Function& function, llvm::UniformityInfo& uniformity);

  Shape of(const llvm::Value& value) const;
  bool is_uniform(const llvm::Value& value) const { return of(value).kind == Shape::Kind::uniform; }
  bool is_varying(const llvm::Value& value) const { return of(value).kind == Shape::Kind::varying; }
  LaneBits bits_of(const llvm::Value& value) const;
  // Of blocks that begin with phis: whether all lanes that come at a time come from the same side. Then shapes of the
  // phis hold for lanes that take no part, too.
  bool meets_together(const llvm::BasicBlock& block) const { return meets_together_.lookup(&block); }
  // Whether lanes may go different ways at the block's end.
  bool diverges_behind(const llvm::BasicBlock& block) const;

 private:
  bool is_reached_together(const llvm::BasicBlock& block, const llvm::DominatorTree& dominators,
                           const llvm::LoopInfo& loops) const;
  Shape derive(const llvm::Instruction& instruction) const;
  Shape derive_address(const llvm::GetElementPtrInst& address) const;
  Shape derive_phi(const llvm::PHINode& phi) const;
  Shape derive_extension(const llvm::CastInst& extension) const;
  void find_bits(const std::vector<llvm::BasicBlock*>& order);
  LaneBits derive_bits(const llvm::Instruction& instruction) const;
  unsigned zeros_of(const llvm::Value& value) const;
  unsigned derive_zeros(const llvm::Instruction& instruction) const;
  LaneBits phi_bits(const llvm::PHINode& phi) const;
  LaneBits address_bits(const llvm::GetElementPtrInst& address) const;

  llvm::UniformityInfo& uniformity_;
  const unsigned lane_bits_;  // of the number of a lane in step
  std::vector<Shape> parameters_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, Shape> strided_;             // what is neither uniform nor varying
  llvm::DenseMap<const llvm::Value*, unsigned> zeros_;            // of strided ones
  llvm::DenseMap<const llvm::Value*, LaneBits> bits_;             // of varying ones, as far as known
  llvm::DenseSet<const llvm::Value*> seen_;                       // in the first round
  llvm::DenseMap<const llvm::BasicBlock*, bool> meets_together_;  // that begin with phis
};

}  // namespace metalloid::engines::simd
