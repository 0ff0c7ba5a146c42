#include "ir/passes/check_operations.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <string>
#include <utility>

#include "ir/operations.h"
#include "ir/passes/private_names.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

namespace intrinsic = llvm::Intrinsic;

bool is_allowed(intrinsic::ID id) {
  switch (id) {
    // Notes to the optimiser; attributes of members.
    case intrinsic::annotation:
    case intrinsic::assume:
    case intrinsic::dbg_assign:
    case intrinsic::dbg_declare:
    case intrinsic::dbg_label:
    case intrinsic::dbg_value:
    case intrinsic::donothing:
    case intrinsic::expect:
    case intrinsic::expect_with_probability:
    case intrinsic::experimental_convergence_anchor:
    case intrinsic::experimental_convergence_entry:
    case intrinsic::experimental_convergence_loop:
    case intrinsic::experimental_noalias_scope_decl:
    case intrinsic::invariant_end:
    case intrinsic::invariant_start:
    case intrinsic::is_constant:
    case intrinsic::launder_invariant_group:
    case intrinsic::lifetime_end:
    case intrinsic::lifetime_start:
    case intrinsic::objectsize:
    case intrinsic::prefetch:
    case intrinsic::ptr_annotation:
    case intrinsic::sideeffect:
    case intrinsic::ssa_copy:
    case intrinsic::strip_invariant_group:
    case intrinsic::var_annotation:
    // Memory that the kernel names.
    case intrinsic::masked_compressstore:
    case intrinsic::masked_expandload:
    case intrinsic::masked_gather:
    case intrinsic::masked_load:
    case intrinsic::masked_scatter:
    case intrinsic::masked_store:
    case intrinsic::memcpy:
    case intrinsic::memcpy_inline:
    case intrinsic::memmove:
    case intrinsic::memset:
    case intrinsic::memset_inline:
    case intrinsic::ptrmask:
    case intrinsic::stackrestore:
    case intrinsic::stacksave:
    // Ends the kernel with a report.
    case intrinsic::trap:
    case intrinsic::ubsantrap:
    // Integers.
    case intrinsic::abs:
    case intrinsic::bitreverse:
    case intrinsic::bswap:
    case intrinsic::ctlz:
    case intrinsic::ctpop:
    case intrinsic::cttz:
    case intrinsic::fshl:
    case intrinsic::fshr:
    case intrinsic::sadd_sat:
    case intrinsic::sadd_with_overflow:
    case intrinsic::scmp:
    case intrinsic::sdiv_fix:
    case intrinsic::sdiv_fix_sat:
    case intrinsic::smax:
    case intrinsic::smin:
    case intrinsic::smul_fix:
    case intrinsic::smul_fix_sat:
    case intrinsic::smul_with_overflow:
    case intrinsic::sshl_sat:
    case intrinsic::ssub_sat:
    case intrinsic::ssub_with_overflow:
    case intrinsic::uadd_sat:
    case intrinsic::uadd_with_overflow:
    case intrinsic::ucmp:
    case intrinsic::umax:
    case intrinsic::umin:
    case intrinsic::umul_with_overflow:
    case intrinsic::ushl_sat:
    case intrinsic::usub_sat:
    case intrinsic::usub_with_overflow:
    // Floating point.
    case intrinsic::acos:
    case intrinsic::arithmetic_fence:
    case intrinsic::asin:
    case intrinsic::atan:
    case intrinsic::atan2:
    case intrinsic::canonicalize:
    case intrinsic::ceil:
    case intrinsic::copysign:
    case intrinsic::cos:
    case intrinsic::cosh:
    case intrinsic::exp:
    case intrinsic::exp10:
    case intrinsic::exp2:
    case intrinsic::fabs:
    case intrinsic::floor:
    case intrinsic::fma:
    case intrinsic::fmuladd:
    case intrinsic::fptosi_sat:
    case intrinsic::fptoui_sat:
    case intrinsic::frexp:
    case intrinsic::is_fpclass:
    case intrinsic::ldexp:
    case intrinsic::llrint:
    case intrinsic::llround:
    case intrinsic::log:
    case intrinsic::log10:
    case intrinsic::log2:
    case intrinsic::lrint:
    case intrinsic::lround:
    case intrinsic::maximum:
    case intrinsic::maximumnum:
    case intrinsic::maxnum:
    case intrinsic::minimum:
    case intrinsic::minimumnum:
    case intrinsic::minnum:
    case intrinsic::modf:
    case intrinsic::nearbyint:
    case intrinsic::pow:
    case intrinsic::powi:
    case intrinsic::rint:
    case intrinsic::round:
    case intrinsic::roundeven:
    case intrinsic::sin:
    case intrinsic::sincos:
    case intrinsic::sincospi:
    case intrinsic::sinh:
    case intrinsic::sqrt:
    case intrinsic::tan:
    case intrinsic::tanh:
    case intrinsic::trunc:
    // Vectors.
    case intrinsic::get_active_lane_mask:
    case intrinsic::stepvector:
    case intrinsic::vector_deinterleave2:
    case intrinsic::vector_extract:
    case intrinsic::vector_insert:
    case intrinsic::vector_interleave2:
    case intrinsic::vector_reduce_add:
    case intrinsic::vector_reduce_and:
    case intrinsic::vector_reduce_fadd:
    case intrinsic::vector_reduce_fmax:
    case intrinsic::vector_reduce_fmaximum:
    case intrinsic::vector_reduce_fmin:
    case intrinsic::vector_reduce_fminimum:
    case intrinsic::vector_reduce_fmul:
    case intrinsic::vector_reduce_mul:
    case intrinsic::vector_reduce_or:
    case intrinsic::vector_reduce_smax:
    case intrinsic::vector_reduce_smin:
    case intrinsic::vector_reduce_umax:
    case intrinsic::vector_reduce_umin:
    case intrinsic::vector_reduce_xor:
    case intrinsic::vector_reverse:
    case intrinsic::vector_splice_left:
    case intrinsic::vector_splice_right: return true;
    // Arithmetic under `#pragma METAL fp math_mode(safe)` in a source that is compiled for another mode.
    default: return llvm::Intrinsic::isConstrainedFPIntrinsic(id);
  }
}

class Checker {
 public:
  // Messages say "place: subject what", the place being that of an instruction if there is one; or "subject what".
  Checker(const llvm::Module& module, std::string subject, std::string place, std::span<const std::string> more = {})
      : module_(module), subject_(std::move(subject)), place_(std::move(place)) {
    for (const std::string& name : more) more_.insert(name);
  }

  void run() const {
    if (!module_.getModuleInlineAsm().empty()) fail(nullptr, "holds assembly");
    for (const llvm::GlobalAlias& alias : module_.aliases()) fail_symbol(alias, "is another name of something");
    for (const llvm::GlobalIFunc& resolved : module_.ifuncs()) fail_symbol(resolved, "is chosen when it is loaded");
    for (const llvm::GlobalVariable& variable : module_.globals()) check(variable);
    for (const llvm::Function& function : module_) check(function);
  }

 private:
  [[noreturn]] void fail(const llvm::Instruction* instruction, const std::string& what) const {
    if (place_.empty()) throw Error(ErrorCode::unsupported, fmt::format("{} {}", subject_, what));
    std::string place = place_;
    if (instruction) {
      if (const llvm::DILocation* line = instruction->getDebugLoc().get(); line && line->getLine() != 0) {
        place = fmt::format("{}:{}", line->getFilename().str(), line->getLine());
      }
    }
    throw Error(ErrorCode::unsupported, fmt::format("{}: {} {}", place, subject_, what));
  }

  // The first instruction that leads to a value, through constants and the initialisers of variables.
  static const llvm::Instruction* first_use(const llvm::Value& value, int depth = 0) {
    for (const llvm::User* user : value.users()) {
      if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) return instruction;
      if (depth < 16) {
        if (const llvm::Instruction* found = first_use(*user, depth + 1)) return found;
      }
    }
    return nullptr;
  }

  [[noreturn]] void fail_symbol(const llvm::GlobalValue& value, const std::string& why) const {
    fail(first_use(value), fmt::format("uses '{}', which {}", source_name(value), why));
  }

  void check(const llvm::GlobalVariable& variable) const {
    if (variable.getName().starts_with("llvm.")) {
      fail_symbol(variable, "is no variable of Metal");  // lists for loaders; those of the front end are gone by now
    }
    if (variable.use_empty()) return;
    if (variable.isDeclaration()) fail_symbol(variable, "has no definition");
    if (variable.isThreadLocal()) fail_symbol(variable, "belongs to a thread of the host");
    const bool is_note = variable.getSection() == "llvm.metadata";  // the text of an annotation
    if (variable.hasSection() && !is_note) fail_symbol(variable, "has a section of its own");
    check_spaces(variable, first_use(variable));
  }

  // Engines know the spaces of module.h. To LLVM others mean segments of the host's processor.
  bool has_foreign_space(llvm::Type* type) const {
    if (const auto* pointer = llvm::dyn_cast<llvm::PointerType>(type)) return pointer->getAddressSpace() > 3;
    if (type->getNumContainedTypes() == 0 || !seen_types_.insert(type).second) return false;
    return llvm::any_of(type->subtypes(), [this](llvm::Type* part) { return has_foreign_space(part); });
  }

  // Throws if a value, or a constant that it is made of, has such a pointer in its type. `user`: for the place.
  void check_spaces(const llvm::Value& value, const llvm::Instruction* user) const {
    if (llvm::isa<llvm::Constant>(value) && !seen_constants_.insert(&value).second) return;
    const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&value);
    if (has_foreign_space(value.getType()) || (global && has_foreign_space(global->getValueType()))) {
      fail(user, "uses an address space that Metal does not have");
    }
    if (!llvm::isa<llvm::Constant>(value)) return;
    for (const llvm::Value* part : llvm::cast<llvm::Constant>(value).operand_values()) check_spaces(*part, user);
  }

  void check(const llvm::Function& function) const {
    if (function.isDeclaration()) {
      if (!function.use_empty()) check_declaration(function);
      return;
    }
    const auto convention = function.getCallingConv();
    if (convention != llvm::CallingConv::C && convention != llvm::CallingConv::Fast) {
      fail_symbol(function, "has a calling convention of its own");
    }
    if (function.hasSection()) fail_symbol(function, "has a section of its own");
    check_spaces(function, first_use(function));
    if (function.hasPrefixData() || function.hasPrologueData() || function.hasGC() || function.hasPersonalityFn() ||
        function.hasFnAttribute(llvm::Attribute::Naked)) {
      fail_symbol(function, "is no function of Metal");
    }
    for (const llvm::Instruction& instruction : llvm::instructions(function)) check(instruction);
  }

  void check_declaration(const llvm::Function& function) const {
    const std::string_view name(function.getName().data(), function.getName().size());
    if (function.isIntrinsic()) {
      if (!is_allowed(function.getIntrinsicID())) fail_symbol(function, "kernels cannot call");
    } else if (find_operation(name)) {
      if (type_of(name, function.getContext()) != function.getFunctionType()) {
        fail(first_use(function), wrong_call(function));
      }
    } else if (!more_.contains(function.getName())) {
      fail(first_use(function), fmt::format("calls '{}', which has no definition", source_name(function)));
    }
    for (const llvm::Use& use : function.uses()) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(use.getUser());
      if (!call || !call->isCallee(&use)) fail_symbol(function, "has no address");
      if (call->getFunctionType() != function.getFunctionType()) fail(call, wrong_call(function));
    }
  }

  void check(const llvm::Instruction& instruction) const {
    if (llvm::isa<llvm::InvokeInst, llvm::CallBrInst, llvm::LandingPadInst, llvm::IndirectBrInst, llvm::VAArgInst>(
            instruction)) {
      fail(&instruction, fmt::format("needs '{}', which Metal does not have", instruction.getOpcodeName()));
    }
    check_spaces(instruction, &instruction);
    for (const llvm::Value* operand : instruction.operand_values()) check_spaces(*operand, &instruction);
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call) return;
    if (call->isInlineAsm()) fail(call, "holds assembly");
    const llvm::Function* callee = call->getCalledFunction();
    if (callee) return;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(call->getCalledOperand()->stripPointerCasts())) {
      fail(call, wrong_call(*function));
    }
    fail(call, "calls a function that it computes the address of");
  }

  static std::string wrong_call(const llvm::Function& function) {
    return fmt::format("calls '{}' with arguments or a result that it does not have", source_name(function));
  }

  const llvm::Module& module_;
  const std::string subject_, place_;
  llvm::StringSet<> more_;
  mutable llvm::SmallPtrSet<llvm::Type*, 32> seen_types_;
  mutable llvm::SmallPtrSet<const llvm::Value*, 32> seen_constants_;
};

}  // namespace

void check_operations(const KernelModule& kernel, std::span<const std::string> more) {
  const std::string place = fmt::format("{}:{}", kernel.info.source_file, kernel.info.source_line);
  Checker(*kernel.module, fmt::format("kernel '{}'", kernel.info.name), place, more).run();
}

void check_operations(const llvm::Module& module, const std::string& subject) { Checker(module, subject, "").run(); }

}  // namespace metalloid::ir
