#include "engines/reference/reference_engine.h"

#include <thread>

#include "engines/host/machine.h"
#include "engines/host/relax_alignment.h"
#include "engines/reference/drop_idle_barriers.h"
#include "engines/reference/executable.h"
#include "engines/reference/kernel_abi.h"
#include "engines/reference/lower_arguments.h"
#include "engines/reference/lower_matrices.h"
#include "engines/reference/lower_meetings.h"
#include "engines/reference/lower_threadgroup_memory.h"
#include "ir/diagnostics.h"
#include "ir/specialise.h"

namespace metalloid::engines::reference {
namespace {

// Changes whenever generated code or kernel_abi.h does, so that older cached code is not used.
constexpr std::string_view code_version = "4";

// What a thread's variables take on its stack, and whether calls may add to that without a bound.
KernelFacts facts_of(const llvm::Module& module, bool meet, std::uint32_t threadgroup_memory,
                     std::uint32_t matrix_registers) {
  KernelFacts facts{meet, threadgroup_memory, 0, 0, matrix_registers};
  std::uint64_t bytes = 0;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (function.hasLocalLinkage()) facts.recursive = 1;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!variable) continue;
      auto size = variable->getAllocationSize(module.getDataLayout());
      bytes += size ? size->getKnownMinValue() : 4096;
    }
  }
  facts.stack_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, 1u << 30));
  return facts;
}

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
    bool meet = threads_meet(module);
    llvm::Function* entry = nullptr;
    std::uint32_t threadgroup_memory = 0, matrix_registers = 0;
    pass("relax_alignment", [&] { host::relax_alignment(module); });
    pass("lower_arguments", [&] { entry = &lower_arguments(module, kernel.info, meet); });
    pass("lower_threadgroup_memory", [&] { threadgroup_memory = lower_threadgroup_memory(module, *entry); });
    if (uses_matrices(module)) {
      pass("unroll_tiles", [&] { unroll_tiles(module, machine); });
      pass("drop_idle_barriers", [&] { drop_idle_barriers(module); });
      pass("lower_matrices", [&] { matrix_registers = lower_matrices(module, *entry); });
    }
    pass("lower_meetings", [&] { lower_meetings(module, *entry); });
    pass("retarget", [&] { host::retarget(module, machine); });
    pass("optimise", [&] { host::optimise(module, machine); });
    pass("embed_facts", [&] { embed(module, facts_of(module, meet, threadgroup_memory, matrix_registers)); });
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
