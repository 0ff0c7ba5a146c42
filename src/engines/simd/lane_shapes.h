// How a value of a lane's program differs from lane to lane of a simdgroup.
//
//   uniform    one value for all lanes
//   strided    lane i has first + i * stride, in the value's own arithmetic; the stride is known
//   varying    anything
//
// A shape says what memory an access touches: one place, a row, a row with gaps, or places anywhere. What is uniform is
// LLVM's uniformity analysis (lane_target.h says what starts out different); strides follow from arithmetic.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Function.h>

#include <cstdint>
#include <vector>

namespace metalloid::engines::simd {

struct Shape {
  enum class Kind : std::uint8_t { uniform, strided, varying };
  Kind kind = Kind::varying;
  std::int64_t stride = 0;  // of addresses in bytes
  bool operator==(const Shape&) const = default;
};

// Of varying values: within each run of `width` lanes (8 or 16; of others 32) strided, or with stride 0 the same.
struct Segments {
  unsigned width = 0;  // 0: none
  std::int64_t stride = 0;
  bool operator==(const Segments&) const = default;
};

class LaneShapes {
 public:
  LaneShapes(llvm::Function& function, llvm::UniformityInfo& uniformity);

  Shape of(const llvm::Value& value) const;
  bool is_uniform(const llvm::Value& value) const { return of(value).kind == Shape::Kind::uniform; }
  bool is_varying(const llvm::Value& value) const { return of(value).kind == Shape::Kind::varying; }
  Segments segments_of(const llvm::Value& value) const;
  // Whether lanes may go different ways at the block's end.
  bool diverges_behind(const llvm::BasicBlock& block) const;

 private:
  Shape derive(const llvm::Instruction& instruction) const;
  Shape derive_address(const llvm::GetElementPtrInst& address) const;
  Shape derive_phi(const llvm::PHINode& phi) const;
  void find_segments(const std::vector<llvm::BasicBlock*>& order);
  Segments derive_segments(const llvm::Instruction& instruction) const;
  Segments address_segments(const llvm::GetElementPtrInst& address) const;

  llvm::UniformityInfo& uniformity_;
  llvm::DenseMap<const llvm::Value*, Shape> strided_;  // what is neither uniform nor varying
  llvm::DenseMap<const llvm::Value*, Segments> segments_;  // of varying ones
  llvm::DenseSet<const llvm::Value*> seen_;                // in the first round
  llvm::DenseMap<const llvm::BasicBlock*, bool> is_loop_header_;
};

}  // namespace metalloid::engines::simd
