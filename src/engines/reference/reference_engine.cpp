#include "engines/reference/reference_engine.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "engines/host/machine.h"
#include "engines/host/relax_alignment.h"
#include "engines/reference/check_frames.h"
#include "engines/reference/drop_idle_barriers.h"
#include "engines/reference/executable.h"
#include "engines/reference/join_loops.h"
#include "engines/reference/kernel_abi.h"
#include "engines/reference/lower_arguments.h"
#include "engines/reference/lower_fences.h"
#include "engines/reference/lower_logging.h"
#include "engines/reference/lower_matrices.h"
#include "engines/reference/lower_meetings.h"
#include "engines/reference/lower_private_memory.h"
#include "engines/reference/lower_threadgroup_memory.h"
#include "engines/reference/split_at_meetings.h"
#include "ir/diagnostics.h"
#include "ir/specialise.h"

namespace metalloid::engines::reference {
namespace {

// Changes whenever generated code or kernel_abi.h does, so that older cached code is not used.
constexpr std::string_view code_version = "9";

void embed(llvm::Module& module, const KernelFacts& facts) {
  auto* first = reinterpret_cast<const std::uint32_t*>(&facts);
  llvm::Constant* values = llvm::ConstantDataArray::get(
      module.getContext(), llvm::ArrayRef<std::uint32_t>(first, sizeof(facts) / sizeof(std::uint32_t)));
  new llvm::GlobalVariable(module, values->getType(), true, llvm::GlobalValue::ExternalLinkage, values,
                           llvm::StringRef(facts_name));
}

class ReferenceEngine : public Engine {
 public:
  std::string name() const override { return "reference"; }
  std::string description() const override {
    return fmt::format("one lane at a time, on {} x {}", std::thread::hardware_concurrency(), host::cpu_name());
  }
  std::string target() const override {
    return fmt::format("reference {};{};{}", code_version, host::cpu_name(), host::cpu_features());
  }

  void prepare() const override { host::make_machine(); }

  std::string compile(ir::KernelModule kernel) const override {
    auto machine = host::make_machine();
    lower(kernel, *machine);
    std::string object = host::emit_object(*kernel.module, *machine);
    ir::throw_kept_diagnostics(*kernel.context, fmt::format("cannot compile kernel '{}'", kernel.info.name));
    return object;
  }

  std::string assembly(ir::KernelModule kernel) const override {
    auto machine = host::make_machine();
    lower(kernel, *machine);
    std::string text = host::emit_assembly(*kernel.module, *machine);
    ir::throw_kept_diagnostics(*kernel.context, fmt::format("cannot compile kernel '{}'", kernel.info.name));
    return text;
  }

  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info) const override {
    return load_executable(bytes, info);
  }

 private:
  static void lower(ir::KernelModule& kernel, llvm::TargetMachine& machine) {
    llvm::Module& module = *kernel.module;
    auto pass = [&](std::string_view name, auto&& run) {
      run();
      ir::dump_after(name, module);
    };
    KernelFacts facts{};
    const bool meet = threads_meet(module);
    facts.threads_meet = meet;
    llvm::Function* entry = nullptr;
    pass("relax_alignment", [&] { host::relax_alignment(module); });
    pass("lower_fences", [&] { lower_fences(module); });
    pass("lower_arguments", [&] { entry = &lower_arguments(module, kernel.info, meet); });
    pass("lower_threadgroup_memory",
         [&] { facts.static_threadgroup_memory = lower_threadgroup_memory(module, *entry); });
    pass("lower_logging", [&] { facts.logs = lower_logging(module, *entry); });
    if (uses_matrices(module)) {
      pass("unroll_tiles", [&] { unroll_tiles(module, machine); });
      pass("drop_idle_barriers", [&] { drop_idle_barriers(module); });
      pass("lower_matrices", [&] { facts.matrix_registers = lower_matrices(module, *entry); });
    }
    pass("join_loops", [&] { join_loops(module); });
    pass("lower_meetings", [&] { lower_meetings(module, *entry); });
    pass("retarget", [&] { host::retarget(module, machine); });
    pass("optimise", [&] { host::optimise(module, machine); });
    pass("lower_private_memory", [&] { facts.private_memory = lower_private_memory(module, *entry, meet); });
    if (meet) {
      pass("split_at_meetings", [&] {
        const auto frame_bytes = split_at_meetings(module, *entry, machine);
        facts.on_fibers = !frame_bytes;
        facts.frame_bytes = frame_bytes.value_or(0);
      });
    }
    check_frames(module, kernel.info.name, (facts.on_fibers ? std::uint64_t{512} : std::uint64_t{4096}) << 10);
    pass("embed_facts", [&] { embed(module, facts); });
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(module, &stream)) {
      throw Error(ErrorCode::internal, fmt::format("invalid code for kernel '{}': {}", kernel.info.name, problems));
    }
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine() { return std::make_unique<ReferenceEngine>(); }

}  // namespace metalloid::engines::reference
