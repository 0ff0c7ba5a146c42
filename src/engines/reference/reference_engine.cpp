#include "engines/reference/reference_engine.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "checker/code/resolve.h"
#include "engines/cpu_shared/code/machine.h"
#include "engines/cpu_shared/code/relax_alignment.h"
#include "engines/cpu_shared/code/target.h"
#include "engines/cpu_shared/hardware.h"
#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/check_bounds.h"
#include "engines/cpu_shared/passes/embed_facts.h"
#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/cpu_shared/passes/lower_checks.h"
#include "engines/cpu_shared/passes/lower_fences.h"
#include "engines/cpu_shared/passes/lower_logging.h"
#include "engines/cpu_shared/passes/lower_private_memory.h"
#include "engines/cpu_shared/passes/lower_threadgroup_memory.h"
#include "engines/cpu_shared/passes/report_bounds.h"
#include "engines/reference/executable.h"
#include "engines/reference/expand_masks.h"
#include "engines/reference/lower_meetings.h"
#include "engines/reference/meeting_abi.h"
#include "engines/reference/split_at_meetings.h"
#include "ir/assemble.h"
#include "ir/bounds/check_bounds.h"
#include "ir/meetings.h"
#include "ir/passes/explicit_lanes.h"
#include "ir/passes/select_kernel.h"
#include "ir/specialise.h"
#include "ir/support/check_frames.h"
#include "ir/support/pointer_tags.h"

namespace metalloid::engines::reference {
namespace {

// Who says which lanes take part in an operation.
enum class Lanes : std::uint8_t { those_that_wait, those_of_the_mask };

class ReferenceEngine : public Engine {
 public:
  explicit ReferenceEngine(Lanes lanes) : lanes_(lanes) {}

  std::string name() const override { return has_masks() ? "masked" : "reference"; }
  std::string description() const override {
    return has_masks() ? "one lane at a time, by masks" : "one lane at a time";
  }
  // Runs a thread at a time, in any order.
  CheckRole check_role() const override { return has_masks() ? CheckRole::none : CheckRole::tells; }
  std::string target_for(const Hardware& hardware) const override { return cpu::target_for(hardware); }

  void prepare() const override { cpu::prepare_code_generation(); }

  ir::InlinePolicy inline_policy() const override {
    return has_masks() ? ir::InlinePolicy{.everything = true} : ir::InlinePolicy{};
  }

  Compilation compile(ir::KernelModule kernel, CodeForm form, const std::string& target) const override {
    const auto wanted = cpu::Target::from(target);
    auto machine = cpu::make_machine(wanted.processor.name, wanted.processor.features);
    if (has_masks()) {
      if (const llvm::CallInst* meeting = ir::explicit_lanes(kernel)) return {{}, {remark_at(*meeting)}};
      ir::dump_after("explicit_lanes", *kernel.module);
    }
    lower(kernel, *machine, wanted.checks_bounds);
    return {cpu::emit(*kernel.module, *machine, form, fmt::format("kernel '{}'", kernel.info.name)), {}};
  }

  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info, Hardware& /*hardware*/,
                                   std::unique_ptr<const AssemblyStore> /*store*/) const override {
    return load_executable(bytes, info);
  }

 private:
  bool has_masks() const { return lanes_ == Lanes::those_of_the_mask; }

  static Remark remark_at(const llvm::CallInst& meeting) {
    Remark remark{.engine = {}, .reason = "lanes meet in a function that stays a call", .source_file = {}};
    if (const llvm::DILocation* place = meeting.getDebugLoc().get()) {
      remark.source_file = place->getFilename().str();
      remark.source_line = place->getLine();
    }
    return remark;
  }

  void lower(ir::KernelModule& kernel, llvm::TargetMachine& machine, bool checks_bounds) const {
    llvm::Module& module = *kernel.module;
    auto pass = [&](std::string_view name, auto&& run) {
      run();
      ir::dump_after(name, module);
    };
    cpu::KernelFacts facts{};
    facts.threads_per_program = 1;
    MeetingFacts meetings{};
    meetings.by_masks = has_masks();
    if (has_masks()) pass("expand_masks", [&] { meetings.barriers_by_masks = expand_masks(module); });
    // Threads of a checked kernel run one by one, in any order.
    const bool checked = checker::is_checked(module);
    const bool meet = checked || ir::threads_meet(module);
    facts.threads_meet = meet;
    cpu::Entry lowered;
    llvm::Function* entry = nullptr;
    if (ir::has_accesses_in_calls(kernel) && (checked || checks_bounds)) {
      pass("tag_pointers", [&] { ir::tag_pointers(kernel); });
    }
    if (checked) pass("resolve_checks", [&] { checker::resolve(kernel); });
    pass("relax_alignment", [&] { cpu::relax_alignment(module); });
    pass("lower_fences", [&] { cpu::lower_fences(module); });
    pass("lower_arguments", [&] {
      const auto form = meet ? cpu::EntryForm::one_thread : cpu::EntryForm::threads_in_loops;
      lowered = cpu::lower_arguments(module, kernel.info, form);
      entry = lowered.function;
    });
    if (!checked && checks_bounds) {
      pass("check_bounds", [&] { cpu::check_bounds(module, kernel.info); });
      pass("lower_bounds_checks", [&] { cpu::lower_bounds_checks(module, lowered); });
    }
    pass("lower_threadgroup_memory",
         [&] { facts.static_threadgroup_memory = cpu::lower_threadgroup_memory(module, *entry); });
    pass("lower_logging", [&] { facts.logs = cpu::lower_logging(module, *entry); });
    if (checked) pass("lower_checks", [&] { cpu::lower_checks(module, *entry); });
    pass("lower_meetings", [&] { lower_meetings(module, *entry); });
    pass("retarget", [&] { cpu::retarget(module, machine); });
    pass("optimise", [&] { cpu::optimise(module, machine); });
    pass("lower_private_memory", [&] { facts.private_memory = cpu::lower_private_memory(module, *entry, meet); });
    if (meet) {
      pass("split_at_meetings", [&] {
        const auto frame_bytes = split_at_meetings(module, *entry, machine);
        meetings.on_fibers = !frame_bytes;
        meetings.frame_bytes = frame_bytes.value_or(0);
      });
    }
    ir::check_frames(module, kernel.info.name, (meetings.on_fibers ? std::uint64_t{512} : std::uint64_t{4096}) << 10);
    pass("embed_facts", [&] {
      cpu::embed_facts(module, cpu::facts_name, facts);
      if (meet) cpu::embed_facts(module, cpu::engine_facts_name, meetings);
    });
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(module, &stream)) {
      throw Error(ErrorCode::internal, fmt::format("invalid code for kernel '{}': {}", kernel.info.name, problems));
    }
  }

  const Lanes lanes_;
};

}  // namespace

std::unique_ptr<Engine> make_engine() { return std::make_unique<ReferenceEngine>(Lanes::those_that_wait); }

std::unique_ptr<Executable> load_masked(std::string_view llvm_assembly, const KernelInfo& kernel) {
  const auto engine = make_masked_engine();
  const Compilation made = engine->compile(ir::select_kernel(ir::assemble(llvm_assembly), kernel), CodeForm::loadable,
                                           engine->target_for(cpu::hardware()));
  return engine->load(made.code.value(), kernel, cpu::hardware(), nullptr);
}

std::unique_ptr<Engine> make_masked_engine() { return std::make_unique<ReferenceEngine>(Lanes::those_of_the_mask); }

}  // namespace metalloid::engines::reference
