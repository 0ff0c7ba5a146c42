#include "ir/passes/infer_address_spaces.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

#include <memory>
#include <vector>

#include "ir/support/change_signature.h"
#include "ir/support/pass_down.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

constexpr unsigned plain_space = 0;

// Where a pointer may lead: nowhere known yet, to one memory with a name, or to any.
class Place {
 public:
  static Place none() { return Place(-1); }
  static Place in(unsigned space) { return Place(static_cast<int>(space)); }
  static Place any() { return Place(-2); }

  Place join(Place other) const {
    if (*this == none() || *this == other) return other;
    return other == none() ? *this : any();
  }
  bool is_named() const { return code_ > 0; }
  unsigned space() const { return static_cast<unsigned>(code_); }
  friend bool operator==(Place, Place) = default;

 private:
  explicit Place(int code) : code_(code) {}
  int code_;
};

bool is_plain(const llvm::Type* type) {
  const auto* pointer = llvm::dyn_cast<llvm::PointerType>(type);
  return pointer && pointer->getAddressSpace() == plain_space;
}

// Memory of the callee's own, made for the call.
bool is_copy(const llvm::Argument& argument) { return argument.hasByValAttr(); }

class Analysis {
 public:
  explicit Analysis(llvm::Module& module) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration() && is_only_called(function)) calls_.insert(&function);
    }
    for (bool changes = !calls_.empty(); changes;) {
      changes = false;
      for (llvm::Function& function : module) changes |= visit(function);
    }
  }

  const llvm::SetVector<llvm::Function*>& functions() const { return calls_; }
  Place of(const Value& value) const {
    if (const auto found = places_.find(&value); found != places_.end()) return found->second;
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) return of_constant(*constant);
    return Place::none();
  }
  Place of_result(const llvm::Function& function) const {
    const auto found = results_.find(&function);
    return found == results_.end() ? Place::none() : found->second;
  }

 private:
  static Place of_constant(const llvm::Constant& constant) {
    if (constant.isNullValue() || llvm::isa<llvm::UndefValue>(constant)) return Place::none();
    const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant);
    if (!expression) return Place::any();
    if (expression->getOpcode() == llvm::Instruction::AddrSpaceCast) {
      return Place::in(expression->getOperand(0)->getType()->getPointerAddressSpace());
    }
    return llvm::isa<llvm::GEPOperator>(expression) ? of_constant(*expression->getOperand(0)) : Place::any();
  }

  Place compute(const llvm::Instruction& instruction) const {
    if (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction)) {
      return Place::in(cast->getSrcAddressSpace());
    }
    if (llvm::isa<llvm::GetElementPtrInst, llvm::FreezeInst>(instruction)) return of(*instruction.getOperand(0));
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
      return of(*choice->getTrueValue()).join(of(*choice->getFalseValue()));
    }
    if (const auto* merge = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      Place place = Place::none();
      for (const Value* incoming : merge->incoming_values()) place = place.join(of(*incoming));
      return place;
    }
    llvm::Function* callee = called_definition(instruction);
    return callee && calls_.contains(callee) ? of_result(*callee) : Place::any();
  }

  using Places = llvm::DenseMap<const Value*, Place>;

  static bool raise(Places& places, const Value& value, Place place) {
    Place& known = places.try_emplace(&value, Place::none()).first->second;
    const Place joined = known.join(place);
    if (joined == known) return false;
    known = joined;
    return true;
  }

  bool visit(llvm::Function& function) {
    if (function.isDeclaration()) return false;
    bool changes = false;
    for (llvm::Argument& argument : function.args()) {
      if (!is_plain(argument.getType())) continue;
      if (is_copy(argument) || !calls_.contains(&function)) changes |= raise(places_, argument, Place::any());
    }
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_plain(instruction.getType())) changes |= raise(places_, instruction, compute(instruction));
      if (auto* last = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
        const Value* value = last->getReturnValue();
        if (value && is_plain(value->getType())) changes |= raise(results_, function, of(*value));
      }
      llvm::Function* callee = called_definition(instruction);
      if (!callee || !calls_.contains(callee)) continue;
      for (llvm::Argument& argument : callee->args()) {
        if (!is_plain(argument.getType()) || is_copy(argument)) continue;
        const auto& call = llvm::cast<llvm::CallBase>(instruction);
        changes |= raise(places_, argument, of(*call.getArgOperand(argument.getArgNo())));
      }
    }
    return changes;
  }

  llvm::SetVector<llvm::Function*> calls_;  // functions whose calls are all known
  Places places_;
  Places results_;  // of functions
};

// A function's signature as it should be.
struct Signature {
  llvm::Function* function;
  llvm::SmallVector<llvm::Type*, 8> parameters;
  llvm::Type* result;

  bool is_new() const {
    return result != function->getReturnType() || !llvm::equal(parameters, function->getFunctionType()->params());
  }
};

Signature signature_of(llvm::Function& function, const Analysis& analysis) {
  Signature signature{&function, {}, function.getReturnType()};
  const auto named = [&](Place place, llvm::Type* type) {
    return place.is_named() ? llvm::PointerType::get(type->getContext(), place.space()) : type;
  };
  for (llvm::Argument& argument : function.args()) {
    const bool is_free = is_plain(argument.getType()) && !argument.hasPointeeInMemoryValueAttr();
    const Place place = is_free ? analysis.of(argument) : Place::none();
    signature.parameters.push_back(named(place, argument.getType()));
  }
  if (is_plain(signature.result)) signature.result = named(analysis.of_result(function), signature.result);
  return signature;
}

void replace_call(llvm::CallInst& call, llvm::Function& changed) {
  llvm::IRBuilder<> builder(&call);
  llvm::SmallVector<Value*, 8> arguments;
  for (auto [value, parameter] : llvm::zip_equal(call.args(), changed.args())) {
    const bool fits = value->getType() == parameter.getType();
    arguments.push_back(fits ? value.get() : builder.CreateAddrSpaceCast(value, parameter.getType()));
  }
  llvm::SmallVector<llvm::OperandBundleDef, 1> bundles;
  call.getOperandBundlesAsDefs(bundles);
  llvm::CallInst* replacement = builder.CreateCall(&changed, arguments, bundles);
  replacement->setAttributes(call.getAttributes());
  replacement->setCallingConv(call.getCallingConv());
  replacement->copyMetadata(call);
  if (!call.getType()->isVoidTy()) {
    replacement->takeName(&call);
    Value* result = replacement;
    if (result->getType() != call.getType()) result = builder.CreateAddrSpaceCast(result, call.getType());
    call.replaceAllUsesWith(result);
  }
  call.eraseFromParent();
}

void change(const Signature& signature) {
  llvm::Function& old = *signature.function;
  llvm::Function& changed =
      take_over(old, llvm::FunctionType::get(signature.result, signature.parameters, /*isVarArg=*/false));
  llvm::BasicBlock& entry = changed.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  builder.SetCurrentDebugLocation({});
  for (auto [before, parameter] : llvm::zip_equal(old.args(), changed.args())) {
    parameter.takeName(&before);
    const bool fits = parameter.getType() == before.getType();
    before.replaceAllUsesWith(fits ? &parameter : builder.CreateAddrSpaceCast(&parameter, before.getType()));
  }
  for (llvm::BasicBlock& block : changed) {
    auto* last = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (!last || !last->getReturnValue() || last->getReturnValue()->getType() == signature.result) continue;
    builder.SetInsertPoint(last);
    last->setOperand(0, builder.CreateAddrSpaceCast(last->getReturnValue(), signature.result));
  }
  for (llvm::User* user : llvm::make_early_inc_range(old.users())) {
    replace_call(*llvm::cast<llvm::CallInst>(user), changed);
  }
  old.eraseFromParent();
}

void infer_across_calls(llvm::Module& module) {
  std::vector<Signature> signatures;
  {
    const Analysis analysis(module);
    for (llvm::Function* function : analysis.functions()) signatures.push_back(signature_of(*function, analysis));
  }
  for (const Signature& signature : signatures) {
    if (signature.is_new()) change(signature);
  }
}

// What LLVM's pass has to know of the spaces, which are those of no machine.
class Spaces final : public llvm::TargetTransformInfoImplBase {
 public:
  explicit Spaces(const llvm::DataLayout& layout) : TargetTransformInfoImplBase(layout) {}
  unsigned getFlatAddressSpace() const override { return plain_space; }
  // What came from a number stays in its space (module.h).
  bool isNoopAddrSpaceCast(unsigned, unsigned) const override { return false; }
  bool hasVolatileVariant(llvm::Instruction*, unsigned) const override { return true; }
};

}  // namespace

void infer_address_spaces(llvm::Module& module) {
  infer_across_calls(module);
  llvm::FunctionAnalysisManager analyses;
  analyses.registerPass([] {
    return llvm::TargetIRAnalysis([](const llvm::Function& function) {
      return llvm::TargetTransformInfo(std::make_unique<const Spaces>(function.getDataLayout()));
    });
  });
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) llvm::InferAddressSpacesPass(plain_space).run(function, analyses);
  }
}

}  // namespace metalloid::ir
