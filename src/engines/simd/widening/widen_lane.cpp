#include "engines/simd/widening/widen_lane.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <utility>

#include "engines/simd/refusals.h"
#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/widening/block_schedule.h"
#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {
namespace {

// Of a whole simdgroup in one row, or of a number of lanes, which is then the last parameter.
llvm::Function* empty_simdgroup(llvm::Function& lane, bool is_whole) {
  llvm::Type* number = llvm::Type::getInt32Ty(lane.getContext());
  llvm::SmallVector<llvm::Type*, 3> parameters(lane.getFunctionType()->params());
  if (!is_whole) parameters.push_back(number);
  auto* type = llvm::FunctionType::get(lane.getReturnType(), parameters, false);
  auto* made =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, lane.getName() + ".simdgroup", lane.getParent());
  made->setAttributes(lane.getAttributes());
  made->setSubprogram(lane.getSubprogram());
  lane.setSubprogram(nullptr);
  return made;
}

}  // namespace

llvm::Function* widen_lane(llvm::Function& lane, bool is_whole, std::vector<Remark>& remarks) {
  LaneManagers managers;
  const LaneShapes shapes(lane, managers.functions.getResult<llvm::UniformityInfoAnalysis>(lane));
  if (auto remark = refusal(lane, shapes)) {
    remarks = {std::move(*remark)};
    return nullptr;
  }
  const BlockSchedule schedule(lane, shapes);
  llvm::Function* simdgroup = empty_simdgroup(lane, is_whole);
  Widening widening(lane, *simdgroup, shapes, schedule);
  widening.run();
  remarks = widening.remarks().take();
  managers.functions.clear();
  return simdgroup;
}

}  // namespace metalloid::engines::simd
