#include "checker/code/instrument.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <string>
#include <vector>

#include "checker/code/calls.h"
#include "checker/code/drop_private_checks.h"
#include "checker/code/follow_undefined.h"
#include "checker/code/mark_variables.h"
#include "checker/code/mark_ways_around.h"
#include "checker/code/operations.h"
#include "ir/bounds/thread_overruns.h"
#include "ir/operations.h"
#include "ir/passes/normalise_attributes.h"
#include "metalloid/check.h"

namespace metalloid::checker {
namespace {

using llvm::Value;

std::string division_name(const llvm::Type& type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  return std::string(check_division_name) + (vector ? "v" + std::to_string(vector->getNumElements()) : std::string()) +
         "i" + std::to_string(type.getScalarSizeInBits());
}

// Of all types of Metal's.
std::vector<std::string> division_names() {
  std::vector<std::string> names;
  for (const char* count : {"", "v2", "v3", "v4"}) {
    for (const char* type : {"i8", "i16", "i32", "i64"}) {
      names.push_back(std::string(check_division_name) + count + type);
    }
  }
  return names;
}

// The alignment that an access wants, and how many bytes it lies behind where that counts.
struct Wanted {
  llvm::Align alignment;
  std::uint32_t behind = 0;

  std::uint32_t flags() const {
    return llvm::Log2(alignment) << access_alignment_shift | behind << access_behind_shift;
  }
};
constexpr unsigned most_behind = 256;

class Instrumenter {
 public:
  Instrumenter(ir::KernelModule& kernel, const InstrumentOptions& options)
      : kernel_(kernel), module_(*kernel.module), options_(options), builder_(module_.getContext()) {}

  void run() {
    ir::report_thread_overruns(module_);
    const llvm::Function* entry = module_.getFunction(kernel_.info.symbol);
    for (llvm::Function& function : module_) {
      if (function.isDeclaration()) continue;
      is_users_ = function.getSubprogram() != nullptr;
      llvm::SmallVector<llvm::Instruction*, 64> instructions;
      for (llvm::Instruction& instruction : llvm::instructions(function)) instructions.push_back(&instruction);
      for (llvm::Instruction* instruction : instructions) visit(*instruction, &function == entry);
      mark_variables(function);
    }
  }

 private:
  void visit(llvm::Instruction& instruction, bool in_kernel) {
    builder_.SetInsertPoint(&instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const std::uint32_t atomic = load->isAtomic() ? std::uint32_t{access_atomic} : 0;
      check(*load, 0, load->getType(), load->getAlign(), access_reads | atomic);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      const std::uint32_t atomic = store->isAtomic() ? std::uint32_t{access_atomic} : 0;
      check(*store, 1, store->getValueOperand()->getType(), store->getAlign(), access_writes | atomic,
            store->getValueOperand());
    } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      check(*update, 0, update->getType(), update->getAlign(), access_reads | access_writes | access_atomic);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      check(*exchange, 0, exchange->getNewValOperand()->getType(), exchange->getAlign(),
            access_reads | access_writes | access_atomic);
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      check_memory(*memory);
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (llvm::Function* callee = call->getCalledFunction()) check_call(*call, callee->getName());
    } else if (llvm::isa<llvm::ReturnInst>(instruction)) {
      if (in_kernel) builder_.CreateCall(operation(module_, check_end_name, builder_.getVoidTy(), {}));
    } else if (auto* arithmetic = llvm::dyn_cast<llvm::BinaryOperator>(&instruction); arithmetic) {
      check_division(*arithmetic);
    }
    if (options_.finite) check_finite(instruction);
  }

  // Accesses of a variable that the code names, at a constant place inside of it, need no question. Where the thread's
  // own begins, LLVM decides: it is where in it that is aligned or not.
  bool is_plainly_inside(Value* pointer, std::uint64_t bytes, Wanted wanted) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    const Value* root = pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
    std::uint64_t size = 0;
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(root)) {
      const auto known = variable->getAllocationSize(layout);
      if (!known) return false;
      size = known->getFixedValue();
    } else if (const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(root)) {
      if (global->getAddressSpace() == static_cast<unsigned>(AddressSpace::threadgroup)) return false;  // races
      size = layout.getTypeAllocSize(global->getValueType());
    } else {
      return false;
    }
    if (offset.isNegative() || offset.getZExtValue() > size || bytes > size - offset.getZExtValue()) return false;
    if (llvm::isa<llvm::AllocaInst>(root) &&
        !llvm::isAligned(wanted.alignment, offset.getZExtValue() - wanted.behind)) {
      make_expectation(builder_, builder_.getFalse(), CheckClass::misaligned, root->getName());
    }
    return true;
  }

  // What is wanted where numbers are taken for something larger: what that wants. Of an array that the code names Clang
  // knows that it is less aligned, and says so; of a vector's component it says what the component alone would need.
  // The steps to an address are followed back to the numbers, over those from one large thing to another.
  Wanted wanted(Value* pointer, llvm::Type* type, llvm::Align said) const {
    const llvm::DataLayout& layout = module_.getDataLayout();
    if (!is_users_ || !type || !type->isSized()) return {said};
    llvm::APInt behind(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
    bool is_whole = true;  // and no member of something else than a vector
    for (const Value* place = uncast(pointer);;) {
      llvm::Type* numbers = type_at(*place);
      if (!numbers || !numbers->isSized()) return {said};
      while (const auto* array = llvm::dyn_cast<llvm::ArrayType>(numbers)) numbers = array->getElementType();
      if (is_whole && layout.getTypeStoreSize(numbers) < layout.getTypeStoreSize(type)) {
        const llvm::Align own = layout.getABITypeAlign(type);
        return own > said ? Wanted{own, static_cast<std::uint32_t>(behind.getZExtValue())} : Wanted{said};
      }
      const auto* step = llvm::dyn_cast<llvm::GEPOperator>(place);
      if (!step) return {said};
      if (step->getNumIndices() > 1) {
        if (!step->accumulateConstantOffset(layout, behind) || behind.uge(most_behind)) return {said};
        is_whole = is_vector(*step->getSourceElementType());
        if (is_whole) type = step->getSourceElementType();
      }
      place = uncast(step->getPointerOperand());
    }
  }

  // Steps that lead nowhere are steps into something, too.
  static const Value* uncast(const Value* address) {
    while (const auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(address)) address = cast->getPointerOperand();
    return address;
  }

  // vec<T, N> of stdlib/include/metalloid/vec.h.
  static bool is_vector(const llvm::Type& type) {
    const auto* structure = llvm::dyn_cast<llvm::StructType>(&type);
    return structure && structure->hasName() && structure->getName().contains("__metalloid::parts::storage");
  }

  // The type of what lies at an address that the code names.
  static llvm::Type* type_at(const Value& place) {
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&place)) return variable->getAllocatedType();
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&place)) return variable->getValueType();
    if (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(&place)) return step->getResultElementType();
    return nullptr;
  }

  // If it has so many bytes.
  llvm::Type* type_at(Value* pointer, std::uint64_t bytes) const {
    llvm::Type* type = type_at(*pointer->stripPointerCasts());
    return type && type->isSized() && module_.getDataLayout().getTypeAllocSize(type) == bytes ? type : nullptr;
  }

  void check(llvm::Instruction& access, unsigned operand, llvm::Type* type, llvm::Align alignment, std::uint32_t flags,
             Value* stored = nullptr) {
    const llvm::DataLayout& layout = module_.getDataLayout();
    const std::uint64_t bytes = layout.getTypeStoreSize(type);
    Value* pointer = access.getOperand(operand);
    const Wanted want = wanted(pointer, type, alignment);
    if (is_plainly_inside(pointer, bytes, want)) return;
    Value* value = builder_.getInt64(0);
    if (stored && bytes <= 8 && !type->isAggregateType()) {
      flags |= access_has_value;
      Value* bits = stored;
      if (type->isPointerTy()) {
        bits = builder_.CreatePtrToInt(stored, builder_.getInt64Ty());
      } else {
        bits = builder_.CreateBitCast(stored, builder_.getIntNTy(layout.getTypeSizeInBits(type)));
      }
      value = builder_.CreateZExt(bits, builder_.getInt64Ty());
    }
    llvm::Type* element = type->getScalarType();
    if (element->isFloatingPointTy()) flags |= access_is_float;
    flags |= want.flags();
    const std::uint64_t element_bytes = element->isSized() ? layout.getTypeStoreSize(element).getFixedValue() : bytes;
    flags |= static_cast<std::uint32_t>(std::min<std::uint64_t>(element_bytes, 255)) << access_element_shift;
    access.setOperand(operand, checked(pointer, builder_.getInt64(bytes), value, flags));
  }

  Value* checked(Value* pointer, Value* bytes, Value* value, std::uint32_t flags) {
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    const auto callee =
        operation(module_, std::string(check_access_name) + std::to_string(space), pointer->getType(),
                  {pointer->getType(), builder_.getInt64Ty(), builder_.getInt64Ty(), builder_.getInt32Ty()});
    return builder_.CreateCall(callee, {pointer, bytes, value, builder_.getInt32(flags)});
  }

  void check_memory(llvm::MemIntrinsic& memory) {
    const auto constant = llvm::dyn_cast<llvm::ConstantInt>(memory.getLength());
    const auto visit_side = [&](unsigned operand, llvm::MaybeAlign alignment, std::uint32_t flags, Value* other) {
      Value* pointer = memory.getArgOperand(operand);
      Wanted want{alignment.valueOrOne()};
      if (constant && other) want = wanted(pointer, type_at(other, constant->getZExtValue()), want.alignment);
      if (constant && is_plainly_inside(pointer, constant->getZExtValue(), want)) return;
      Value* bytes = builder_.CreateZExtOrTrunc(memory.getLength(), builder_.getInt64Ty());
      memory.setArgOperand(operand, checked(pointer, bytes, builder_.getInt64(0), flags | want.flags()));
    };
    if (auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&memory)) {
      Value* destination = transfer->getArgOperand(0);
      Value* source = transfer->getArgOperand(1);
      visit_side(1, transfer->getSourceAlign(), access_reads, destination);
      visit_side(0, transfer->getDestAlign(), access_writes, source);
      return;
    }
    visit_side(0, memory.getDestAlign(), access_writes, nullptr);
  }

  void meet(MeetingStep step, Value* what, Value* operand) {
    llvm::Type* number = builder_.getInt32Ty();
    builder_.CreateCall(operation(module_, check_meeting_name, builder_.getVoidTy(), {number, number, number}),
                        {builder_.getInt32(static_cast<std::uint32_t>(step)), what, operand});
  }

  void check_call(llvm::CallInst& call, llvm::StringRef name) {
    Value* none = builder_.getInt32(0);
    if (name == llvm::StringRef(ir::threadgroup_barrier_name) || name == llvm::StringRef(ir::simdgroup_barrier_name)) {
      const bool is_whole = name == llvm::StringRef(ir::threadgroup_barrier_name);
      meet(is_whole ? MeetingStep::come_to_threadgroup_barrier : MeetingStep::come_to_simdgroup_barrier,
           call.getArgOperand(0), none);
      builder_.SetInsertPoint(call.getNextNode());
      builder_.SetCurrentDebugLocation(call.getDebugLoc());
      meet(is_whole ? MeetingStep::leave_threadgroup_barrier : MeetingStep::leave_simdgroup_barrier,
           call.getArgOperand(0), none);
    } else if (name == llvm::StringRef(ir::fence_name)) {
      meet(MeetingStep::fence, call.getArgOperand(0), call.getArgOperand(2));
    } else if (auto operation = ir::parse_cross_lane(name)) {
      const auto what = static_cast<std::uint32_t>(operation->operation) |
                        (operation->group == ir::LaneGroup::quad ? quad_meeting : 0u);
      meet_around(call, what, call.arg_size() > 1 ? call.getArgOperand(1) : none);
    } else if (ir::parse_matrix_operation(name)) {
      meet_around(call, matrix_meeting, none);
    } else if (ir::defined_operation(*call.getCalledFunction()).starts_with("simdgroup_matrix.")) {
      meet_in_front();
    }
  }

  void meet_around(llvm::CallInst& call, std::uint32_t what, Value* operand) {
    meet(MeetingStep::come_to_operation, builder_.getInt32(what), operand);
    builder_.SetInsertPoint(call.getNextNode());
    builder_.SetCurrentDebugLocation(call.getDebugLoc());
    meet(MeetingStep::leave_operation, builder_.getInt32(what), operand);
  }

  // Loads and stores of matrices want all lanes, but each lane's part is plain accesses: so lanes meet first.
  void meet_in_front() {
    Value *what = builder_.getInt32(matrix_meeting), *none = builder_.getInt32(0);
    meet(MeetingStep::come_to_operation, what, none);
    builder_.CreateCall(ir::declare_operation(module_, "metalloid.simd.ballot"), {builder_.getTrue()});
    meet(MeetingStep::leave_operation, what, none);
  }

  // ir::fix_numeric_semantics has put another divisor in the place of zero. Metal leaves the result open and nothing
  // else: only a result that is used is wrong.
  void check_division(llvm::BinaryOperator& division) {
    if (!division.isIntDivRem()) return;
    auto* guarded = llvm::dyn_cast<llvm::SelectInst>(division.getOperand(1));
    if (!guarded) return;
    Value* divisor = guarded->getFalseValue();
    Value* holds = builder_.CreateICmpNE(divisor, llvm::Constant::getNullValue(divisor->getType()));
    llvm::Type* type = division.getType();
    const std::string name = division_name(*type);
    if (!llvm::is_contained(division_names(), name)) {
      return make_expectation(builder_, all_hold(builder_, holds), CheckClass::division_by_zero, "");
    }
    builder_.SetInsertPoint(division.getNextNode());
    builder_.SetCurrentDebugLocation(division.getDebugLoc());
    auto callee = operation(module_, name, type, {type, holds->getType()});
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotAccessMemory();
    auto* result = builder_.CreateCall(callee, {llvm::PoisonValue::get(type), holds});
    division.replaceAllUsesWith(result);
    result->setArgOperand(0, &division);
  }

  // An operation whose operands are finite and whose result is not.
  void check_finite(llvm::Instruction& instruction) {
    llvm::Type* type = instruction.getType();
    if (!type->getScalarType()->isFloatingPointTy() || instruction.isTerminator()) return;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!llvm::isa<llvm::BinaryOperator>(instruction) && !llvm::isa<llvm::FPTruncInst>(instruction) && !call) return;
    builder_.SetInsertPoint(instruction.getNextNode());
    builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
    const auto is_finite = [&](Value* value) {
      Value* finite = builder_.createIsFPClass(value, llvm::fcFinite);
      return finite->getType()->isVectorTy() ? builder_.CreateAndReduce(finite) : finite;
    };
    Value* holds = is_finite(&instruction);
    for (Value* operand : call ? llvm::SmallVector<Value*, 4>(call->args())
                               : llvm::SmallVector<Value*, 4>(instruction.operand_values())) {
      if (!operand->getType()->getScalarType()->isFloatingPointTy()) continue;
      holds = builder_.CreateOr(holds, builder_.CreateNot(is_finite(operand)));
    }
    make_expectation(builder_, holds, CheckClass::not_finite, "");
  }

  ir::KernelModule& kernel_;
  llvm::Module& module_;
  const InstrumentOptions options_;
  llvm::IRBuilder<> builder_;
  bool is_users_ = false;  // the function that is visited, and not the library's
};

}  // namespace

ir::Instrumentation instrumentation(const InstrumentOptions& options) {
  ir::Instrumentation result;
  result.name = "checker";
  result.run = [options](ir::KernelModule& kernel) { Instrumenter(kernel, options).run(); };
  result.run_inlined = [options](ir::KernelModule& kernel) {
    drop_private_checks(*kernel.module);
    follow_undefined(*kernel.module, options.tells);
    mark_ways_around(*kernel.module);
  };
  for (const std::string_view name : {check_expect_name, check_used_name, check_meeting_name, check_end_name}) {
    result.operations.emplace_back(name);
  }
  for (const std::string& name : division_names()) result.operations.push_back(name);
  for (unsigned space = 0; space < 4; ++space) {
    result.operations.push_back(std::string(check_access_name) + std::to_string(space));
  }
  return result;
}

}  // namespace metalloid::checker
