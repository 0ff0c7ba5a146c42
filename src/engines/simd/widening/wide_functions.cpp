#include "engines/simd/widening/wide_functions.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <utility>

#include "engines/simd/refusals.h"
#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/vectors/parts.h"
#include "engines/simd/widening/block_schedule.h"
#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {
namespace {

// The vectors that a value of the type is.
void add_parts(llvm::Type* type, unsigned width, llvm::SmallVectorImpl<llvm::Type*>& parts) {
  for (unsigned part = 0; part < parts_of(type); ++part) parts.push_back(wide_type(part_type(type, part), width));
}

llvm::Type* result_type(llvm::Type* type, unsigned width) {
  if (type->isVoidTy()) return type;
  llvm::SmallVector<llvm::Type*, 8> parts;
  add_parts(type, width, parts);
  return parts.size() == 1 ? parts.front() : llvm::StructType::get(type->getContext(), parts);
}

std::string key_of(const AnalysedFunction& lane) {
  std::string key = lane.function().getName().str();
  for (const auto& [shape, has_one_tag] : lane.signature()) {
    key += fmt::format(" {}/{}/{}", static_cast<int>(shape.kind), shape.stride, has_one_tag);
  }
  return key;
}

}  // namespace

llvm::Function& WideFunctions::declare(const AnalysedFunction& lane, Entry entry) {
  llvm::Function& own = lane.function();
  llvm::Type* number = llvm::Type::getInt32Ty(own.getContext());
  const unsigned width = step_width(own);
  llvm::SmallVector<llvm::Type*, 8> parameters;
  for (llvm::Argument& parameter : own.args()) {
    if (lane.shapes().is_varying(parameter)) {
      add_parts(parameter.getType(), width, parameters);
    } else {
      parameters.push_back(parameter.getType());
    }
  }
  if (entry == Entry::number_of_lanes || entry == Entry::bits_of_lanes) parameters.push_back(number);
  auto* type = llvm::FunctionType::get(result_type(own.getReturnType(), width), parameters, false);
  auto* made =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, own.getName() + ".simdgroup", own.getParent());
  // What was known of parameters is not of vectors of them.
  made->setAttributes(llvm::AttributeList::get(own.getContext(), own.getAttributes().getFnAttrs(), {}, {}));
  made->removeFnAttr(llvm::Attribute::Memory);
  made->setCallingConv(own.getCallingConv());
  made->setSubprogram(own.getSubprogram());
  own.setSubprogram(nullptr);
  signatures_[made] = lane.signature();
  return *made;
}

llvm::Function* WideFunctions::widen(llvm::Function& lane, Entry entry, std::vector<Remark>& remarks) {
  const auto program = analyse_program(lane);
  if (auto remark = refusal(lane, program.front()->shapes())) {
    remarks = {std::move(*remark)};
    return nullptr;
  }
  current_.clear();
  llvm::SmallVector<bool, 8> is_new;
  for (const auto& function : program) {
    const bool is_kernel = function == program.front();
    llvm::Function*& wide = made_[key_of(*function)];
    is_new.push_back(!wide);
    if (!wide) wide = &declare(*function, is_kernel ? entry : Entry::bits_of_lanes);
    current_[&function->function()] = wide;
    if (!llvm::is_contained(lanes_, &function->function())) lanes_.push_back(&function->function());
  }
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!is_new[i]) continue;
    llvm::Function& own = program[i]->function();
    const BlockSchedule schedule(own, program[i]->shapes());
    Widening widening(*program[i], *current_.at(&own), schedule, i == 0 ? entry : Entry::bits_of_lanes, *this);
    widening.run();
    for (Remark& remark : widening.remarks().take()) remarks.push_back(std::move(remark));
  }
  return current_.at(&lane);
}

void WideFunctions::erase_lanes() {
  for (llvm::Function* lane : lanes_) lane->deleteBody();
  for (llvm::Function* lane : lanes_) lane->eraseFromParent();
  lanes_.clear();
}

}  // namespace metalloid::engines::simd
