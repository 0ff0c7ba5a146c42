#include "engines/trial/trial_engine.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "engines/cpu_shared/code/machine.h"
#include "engines/cpu_shared/code/relax_alignment.h"
#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/check_bounds.h"
#include "engines/cpu_shared/passes/check_frames.h"
#include "engines/cpu_shared/passes/embed_facts.h"
#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/cpu_shared/passes/lower_bounds_checks.h"
#include "engines/cpu_shared/passes/lower_fences.h"
#include "engines/cpu_shared/passes/lower_logging.h"
#include "engines/cpu_shared/passes/lower_private_memory.h"
#include "engines/cpu_shared/passes/lower_threadgroup_memory.h"
#include "engines/cpu_shared/run/launch.h"
#include "engines/trial/trial_hardware.h"
#include "ir/meetings.h"
#include "ir/specialise.h"
#include "ir/support/pointer_tags.h"

namespace metalloid::engines::trial {
namespace {

cpu::WorkerPool& workers = *new cpu::WorkerPool(nullptr);
const cpu::Runtime& runtime = *new cpu::Runtime{cpu::runtime_symbol, workers};

// Bytes of the dispatch go to the hardware's memory too, so that kernels read nothing of the host's.
class TrialExecutable : public Executable {
 public:
  explicit TrialExecutable(std::unique_ptr<Executable> code) : code_(std::move(code)) {}

  void run(const DispatchPlan& plan) const override {
    DispatchPlan own = plan;
    Memory& memory = hardware().memory();
    std::vector<std::pair<std::byte*, std::size_t>> copies;
    const auto release = [&] {
      for (const auto& [address, bytes] : copies) memory.release(address, bytes);
    };
    try {
      for (BoundArgument& argument : own.arguments) {
        BoundMemory& range = argument.memory;
        if (range.owner != BoundMemory::Owner::dispatch) continue;
        copies.emplace_back(memory.allocate(range.size), range.size);
        memory.copy_in(copies.back().first, {range.base, range.size});
        range.base = copies.back().first;
        range.memory = &memory;
      }
      const TrialHardware::Access access(hardware());
      code_->run(own);
    } catch (...) {
      release();
      throw;
    }
    release();
  }

 private:
  std::unique_ptr<Executable> code_;
};

Remark remark_at(const llvm::CallBase& call) {
  Remark remark{.engine = {}, .reason = "threads meet here", .source_file = {}, .source_line = 0};
  if (const llvm::DILocation* place = call.getDebugLoc().get()) {
    while (place->getInlinedAt()) place = place->getInlinedAt();
    remark.source_file = place->getFilename().str();
    remark.source_line = place->getLine();
  }
  return remark;
}

class TrialEngine : public Engine {
 public:
  std::string name() const override { return "trial"; }
  std::string description() const override { return "kernels whose threads never meet, in memory of its own"; }
  std::string target() const override {
    return fmt::format("trial {} {}", cpu::bounds_mode(), cpu::processor().text());
  }
  Hardware& hardware() const override { return trial::hardware(); }

  Compilation compile(ir::KernelModule kernel, CodeForm form) const override {
    if (const llvm::CallBase* meeting = ir::first_meeting(*kernel.module)) return {{}, {remark_at(*meeting)}};
    if (ir::threads_meet(*kernel.module))
      return {{},
              {{.engine = {},
                .reason = "a function that is called through a pointer asks for its thread",
                .source_file = {},
                .source_line = 0}}};
    auto machine = cpu::make_machine();
    lower(kernel, *machine);
    return {cpu::emit(*kernel.module, *machine, form, fmt::format("kernel '{}'", kernel.info.name)), {}};
  }

  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info) const override {
    return std::make_unique<TrialExecutable>(cpu::load_executable(bytes, info, runtime));
  }

 private:
  static void lower(ir::KernelModule& kernel, llvm::TargetMachine& machine) {
    llvm::Module& module = *kernel.module;
    cpu::KernelFacts facts{};
    facts.threads_per_program = 1;
    if (ir::has_accesses_in_calls(kernel)) ir::tag_pointers(kernel);
    cpu::relax_alignment(module);
    cpu::lower_fences(module);
    const cpu::Entry lowered = cpu::lower_arguments(module, kernel.info, cpu::EntryForm::threads_in_loops);
    llvm::Function& entry = *lowered.function;
    if (cpu::checks_bounds(module)) {
      cpu::check_bounds(module, kernel.info);
      cpu::lower_bounds_checks(module, lowered);
    }
    facts.static_threadgroup_memory = cpu::lower_threadgroup_memory(module, entry);
    facts.logs = cpu::lower_logging(module, entry);
    cpu::retarget(module, machine);
    cpu::optimise(module, machine);
    facts.private_memory = cpu::lower_private_memory(module, entry, /*threads_meet=*/false);
    cpu::check_frames(module, kernel.info.name, std::uint64_t{4096} << 10);
    cpu::embed_facts(module, cpu::facts_name, facts);
    ir::dump_after("trial", module);
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine() { return std::make_unique<TrialEngine>(); }

}  // namespace metalloid::engines::trial
