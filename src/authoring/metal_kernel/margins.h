// Memory around the arrays of a metal_kernel. Kernels in use touch elements just outside their arrays: a GPU forgives
// that, and the heap of a process does not.
#pragma once

#include <vector>

#include "metalloid/fast.h"

namespace metalloid::fast {

// A copy with zeros around it, as much as the array itself within limits.
Array with_margins(const Array& input);

// Outputs for a kernel to write to. Small ones are elsewhere until `finish`, between margins: those of the caller lie
// between other objects of the process.
class GuardedOutputs {
 public:
  explicit GuardedOutputs(const std::vector<Array>& outputs);

  const std::vector<Array>& arrays() const { return guarded_; }

  // Copies what was written to the caller's arrays. False if something was written to the margins.
  bool finish();

 private:
  std::vector<Array> outputs_, guarded_;
};

}  // namespace metalloid::fast
