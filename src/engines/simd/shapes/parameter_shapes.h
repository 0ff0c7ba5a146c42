// How what a function that stays a call is handed differs from lane to lane.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <memory>
#include <vector>

#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"

namespace metalloid::engines::simd {

struct ParameterShape {
  Shape shape{.kind = Shape::Kind::uniform};
  // Of pointers: all lanes' lead to memory of one argument, so that their tags (ir/support/pointer_tags.h) are the
  // same.
  bool has_one_tag = true;
  bool operator==(const ParameterShape&) const = default;
};

// All parameters'. The kernel's own are uniform.
using Signature = std::vector<ParameterShape>;

// Noted at the function, where analyses of it find them.
void set_parameters(llvm::Function& function, const Signature& signature);
ParameterShape shape_of_parameter(const llvm::Argument& parameter);
// Whether an instruction takes the tag, which all lanes share, off a parameter that differs from lane to lane.
bool takes_common_tag(const llvm::Instruction& instruction);

// A function of a lane's program with the shapes of its values.
class AnalysedFunction {
 public:
  explicit AnalysedFunction(llvm::Function& function);
  llvm::Function& function() const { return function_; }
  const LaneShapes& shapes() const { return shapes_; }
  const Signature& signature() const { return signature_; }

 private:
  llvm::Function& function_;
  Signature signature_;
  LaneManagers managers_;
  LaneShapes shapes_;
};

// The functions that a lane's program leads to, itself first, callers before callees as far as nobody calls himself.
// What a parameter is in any call it is in all.
std::vector<std::unique_ptr<AnalysedFunction>> analyse_program(llvm::Function& lane);

}  // namespace metalloid::engines::simd
