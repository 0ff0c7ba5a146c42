#include "engines/simd/shapes/parameter_shapes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include <optional>
#include <string>

#include "ir/support/pass_down.h"
#include "ir/support/pointer_roots.h"
#include "ir/support/pointer_tags.h"

namespace metalloid::engines::simd {
namespace {

using Kind = Shape::Kind;

constexpr const char* stride_attribute = "metalloid.stride";
constexpr const char* tags_attribute = "metalloid.tags";
constexpr const char* varying_text = "varying";

// Whether all lanes' pointers have the same tag once they are handed on.
bool has_one_tag(llvm::Value& pointer, const LaneShapes& shapes) {
  llvm::SmallPtrSet<llvm::Value*, 8> seen;
  llvm::SmallVector<llvm::Value*, 4> roots;
  ir::find_roots(&pointer, seen, roots);
  if (roots.size() != 1) return false;
  if (shapes.is_uniform(*roots.front())) return true;
  if (!ir::is_bare(*roots.front())) return false;
  const auto* parameter = llvm::dyn_cast<llvm::Argument>(llvm::cast<llvm::CallInst>(roots.front())->getArgOperand(0));
  return parameter && shape_of_parameter(*parameter).has_one_tag;
}

ParameterShape shape_of_argument(llvm::Value& value, const LaneShapes& shapes) {
  ParameterShape result{.shape = shapes.of(value)};
  if (result.shape.may_wrap) result.shape = {};  // what the row says is no number there
  if (value.getType()->isPointerTy()) result.has_one_tag = has_one_tag(value, shapes);
  return result;
}

void join(ParameterShape& parameter, const ParameterShape& other) {
  if (parameter.shape != other.shape) parameter.shape = {};
  parameter.has_one_tag &= other.has_one_tag;
}

using Signatures = llvm::DenseMap<llvm::Function*, Signature>;

// Whether what a function hands to others tells something new of these.
bool join_calls(AnalysedFunction& caller, Signatures& signatures) {
  bool changed = false;
  for (llvm::Instruction& instruction : llvm::instructions(caller.function())) {
    llvm::Function* callee = ir::called_definition(instruction);
    if (!callee) continue;
    auto& call = llvm::cast<llvm::CallBase>(instruction);
    Signature own;
    for (llvm::Value* argument : call.args()) own.push_back(shape_of_argument(*argument, caller.shapes()));
    const auto [entry, is_first] = signatures.try_emplace(callee, own);
    changed |= is_first;
    if (is_first) continue;
    for (unsigned i = 0; i < own.size(); ++i) {
      ParameterShape joined = entry->second[i];
      join(joined, own[i]);
      changed |= joined != entry->second[i];
      entry->second[i] = joined;
    }
  }
  return changed;
}

void visit(llvm::Function& function, llvm::SmallPtrSetImpl<llvm::Function*>& seen,
           std::vector<llvm::Function*>& callees_first) {
  if (!seen.insert(&function).second) return;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::Function* callee = ir::called_definition(instruction)) visit(*callee, seen, callees_first);
  }
  callees_first.push_back(&function);
}

}  // namespace

void set_parameters(llvm::Function& function, const Signature& signature) {
  llvm::LLVMContext& context = function.getContext();
  for (unsigned i = 0; i < signature.size(); ++i) {
    const auto& [shape, has_one_tag] = signature[i];
    function.removeParamAttr(i, stride_attribute);
    function.removeParamAttr(i, tags_attribute);
    if (shape.kind != Kind::uniform) {
      const std::string text = shape.kind == Kind::varying ? varying_text : std::to_string(shape.stride);
      function.addParamAttr(i, llvm::Attribute::get(context, stride_attribute, text));
    }
    if (!has_one_tag) function.addParamAttr(i, llvm::Attribute::get(context, tags_attribute, varying_text));
  }
}

ParameterShape shape_of_parameter(const llvm::Argument& parameter) {
  const llvm::AttributeList attributes = parameter.getParent()->getAttributes();
  ParameterShape result;
  result.has_one_tag = !attributes.hasParamAttr(parameter.getArgNo(), tags_attribute);
  const llvm::Attribute stride = attributes.getParamAttr(parameter.getArgNo(), stride_attribute);
  if (!stride.isValid()) return result;
  const llvm::StringRef text = stride.getValueAsString();
  result.shape = {};
  if (text != varying_text) result.shape = {.kind = Kind::strided, .stride = std::stoll(text.str())};
  return result;
}

//   lshr i64 (ptrtoint ptr %parameter), 48      and i64 (ptrtoint ptr %parameter), -1 << 48
bool takes_common_tag(const llvm::Instruction& instruction) {
  const auto* number =
      instruction.getNumOperands() == 2 ? llvm::dyn_cast<llvm::PtrToIntInst>(instruction.getOperand(0)) : nullptr;
  const auto* parameter = number ? llvm::dyn_cast<llvm::Argument>(number->getPointerOperand()) : nullptr;
  const auto* constant = number ? llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1)) : nullptr;
  if (!parameter || !constant || constant->getBitWidth() != 64) return false;
  const bool is_tag =
      instruction.getOpcode() == llvm::Instruction::LShr
          ? constant->getValue().uge(ir::tag_shift)
          : instruction.getOpcode() == llvm::Instruction::And && constant->getValue().countr_zero() >= ir::tag_shift;
  const ParameterShape shape = is_tag ? shape_of_parameter(*parameter) : ParameterShape{};
  return is_tag && shape.has_one_tag && shape.shape.kind != Kind::uniform;
}

AnalysedFunction::AnalysedFunction(llvm::Function& function)
    : function_(function), shapes_(function, managers_.functions.getResult<llvm::UniformityInfoAnalysis>(function)) {
  for (const llvm::Argument& parameter : function.args()) signature_.push_back(shape_of_parameter(parameter));
}

std::vector<std::unique_ptr<AnalysedFunction>> analyse_program(llvm::Function& lane) {
  llvm::SmallPtrSet<llvm::Function*, 8> seen;
  std::vector<llvm::Function*> order;
  visit(lane, seen, order);
  std::vector<std::unique_ptr<AnalysedFunction>> analysed(order.size());
  Signatures signatures;
  // Again only where functions call each other in circles.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      llvm::Function& function = *order[order.size() - 1 - i];
      if (&function != &lane) {
        const auto own = signatures.find(&function);
        if (own == signatures.end()) continue;
        if (analysed[i] && analysed[i]->signature() == own->second) continue;
        set_parameters(function, own->second);
      } else if (analysed[i]) {
        continue;
      }
      analysed[i] = std::make_unique<AnalysedFunction>(function);
      changed |= join_calls(*analysed[i], signatures);
    }
  }
  return analysed;
}

}  // namespace metalloid::engines::simd
