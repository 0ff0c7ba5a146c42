#include "engines/cpu_shared/code/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "engines/cpu_shared/code/schedule.h"
#include "ir/support/pass_managers.h"
#include "ir/support/target_code.h"
#include "metalloid/error.h"
#include "support/fork_safe_mutex.h"

namespace metalloid::engines::cpu {
namespace {

// Instructions, as registers of 512 bits make them, of a program whose machine code is not put into order once more
// behind registers are given out, which takes a tenth of all time, and of machine code that runs long brings 2 to 5 %.
constexpr unsigned most_scheduled_twice = 20'000;
// The same of a function that is optimised once it is machine code. Above, LLVM would take 4 s and more, most of it
// to give out registers.
constexpr unsigned most_optimised = 60'000;

template <class Value>
void set_option(const char* name, Value value) {
  const auto& options = llvm::cl::getRegisteredOptions();
  const auto found = options.find(name);
  if (found != options.end()) static_cast<llvm::cl::opt<Value>*>(found->second)->setValue(value);
}

// Kernels are one function after inlining, with long blocks: some of LLVM's steps take time that grows with the
// square or the cube of these, unless they are told to stop.
void bound_compile_time() {
  // CodeGenPrepare starts over at a function's first block after each change that makes a block or an overflow check,
  // of which products of wide integers are full.
  set_option("cgpp-huge-func", 0u);
  // The scheduler compares each access of memory with as many before it, and each of those it depends on with all it
  // depends on already. LLVM's limit is 1000.
  set_option("dag-maps-huge-region", 200u);
  // Of each store, what may read or overwrite it: in kernels with simdgroup matrices and barriers a fifth of all time.
  // LLVM's limits are 150 and 90.
  set_option("dse-memoryssa-scanlimit", 30u);
  set_option("dse-memoryssa-walklimit", 20u);
  // Of blocks that go on to the same one, each is compared with all others for an end in common: thousands go on past a
  // check of a buffer's bounds. LLVM's limit is 150.
  set_option("tail-merge-threshold", 20u);
  // Where the source's variables are is followed through all machine code, though kernels have lines alone.
  set_option("experimental-debug-variable-locations", llvm::cl::BOU_FALSE);
}

support::ForkSafeMutex& target_mutex = *new support::ForkSafeMutex;
support::ForkSafeMutex& known_mutex = *new support::ForkSafeMutex;
std::map<std::string, Processor>& known = *new std::map<std::string, Processor>;  // by what is wished for

const llvm::Target& target() {
  static constinit const llvm::Target* found = nullptr;
  const std::lock_guard lock(target_mutex);
  if (found) return *found;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::string error;
  found = llvm::TargetRegistry::lookupTarget(llvm::Triple(llvm::sys::getProcessTriple()), error);
  if (!found) throw Error(ErrorCode::internal, "no code generator for this machine: " + error);
  bound_compile_time();
  order_floats_by_time();
  return *found;
}

Processor this_processor() {
  Processor result{llvm::sys::getHostCPUName().str(), {}};
  std::map<std::string, bool> sorted;
  for (const auto& [name, present] : llvm::sys::getHostCPUFeatures()) sorted.emplace(name.str(), present);
  llvm::SubtargetFeatures list;
  for (const auto& [name, present] : sorted) list.AddFeature(name, present);
  result.features = list.getString();
  return result;
}

// One whose code this processor can run.
Processor processor_named(const std::string& name) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  const std::unique_ptr<llvm::MCSubtargetInfo> none(target().createMCSubtargetInfo(triple, "", ""));
  if (!none->isCPUStringValid(name)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("$METALLOID_CPU names no processor of this architecture: '{}' (\"native\" is this one, "
                            "{}; others have LLVM's names, as in `clang --print-supported-cpus`)",
                            name, llvm::sys::getHostCPUName().str()));
  }
  const std::unique_ptr<llvm::MCSubtargetInfo> wanted(target().createMCSubtargetInfo(triple, name, ""));
  const auto here = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> lacking;
  for (const llvm::SubtargetFeatureKV& feature : wanted->getEnabledProcessorFeatures()) {
    const auto found = here.find(feature.Key);
    if (found != here.end() && !found->second) lacking.emplace_back(feature.Key);
  }
  if (!lacking.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("$METALLOID_CPU is '{}', but this processor ({}) has no {}", name,
                            llvm::sys::getHostCPUName().str(), fmt::join(lacking, ", ")));
  }
  return {name, {}};
}

// Processors with AVX-512 all have shuffles of whole vectors as fast as others. LLVM 22 does not know it of AMD's, and
// has no instruction then for some that shift the lanes of a float2 by an odd number.
std::string with_shuffles_across(const std::string& cpu, std::string features) {
  const llvm::Triple triple(llvm::sys::getProcessTriple());
  const std::unique_ptr<llvm::MCSubtargetInfo> info(target().createMCSubtargetInfo(triple, cpu, features));
  if (!info->checkFeatures("+avx512f")) return features;
  return features + (features.empty() ? "" : ",") + "+fast-variable-crosslane-shuffle";
}

// How many instructions there are with registers of 512 bits, of which shorter ones need several for each.
unsigned code_size(const llvm::Function& function, unsigned register_bits) {
  constexpr unsigned long_bits = 512;
  if (register_bits >= long_bits) return function.getInstructionCount();
  const llvm::DataLayout& layout = function.getDataLayout();
  unsigned size = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const llvm::Type* type = store ? store->getValueOperand()->getType() : instruction.getType();
    const auto bits = type->isVectorTy() ? layout.getTypeSizeInBits(const_cast<llvm::Type*>(type)).getFixedValue() : 1;
    size += llvm::divideCeil(bits, register_bits) / llvm::divideCeil(bits, long_bits);
  }
  return size;
}

}  // namespace

unsigned vector_register_bits(const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86()) return 128;
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  return processor.checkFeatures("+avx512f") ? 512 : processor.checkFeatures("+avx") ? 256 : 128;
}

const Processor& processor() {
  const char* variable = std::getenv("METALLOID_CPU");
  const std::string wish = variable && *variable ? variable : "native";
  const std::lock_guard lock(known_mutex);
  const auto found = known.find(wish);
  if (found != known.end()) return found->second;
  return known.emplace(wish, wish == "native" ? this_processor() : processor_named(wish)).first->second;
}

void prepare_code_generation() { make_machine(llvm::sys::getHostCPUName().str()); }

std::unique_ptr<llvm::TargetMachine> make_machine() {
  const Processor& chosen = processor();
  return make_machine(chosen.name, chosen.features);
}

std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& cpu, const std::string& wanted) {
  const std::string features = with_shuffles_across(cpu, wanted);
  llvm::TargetOptions options;
  // MSL contracts a*b+c only where the front end says so (llvm.fmuladd).
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  // What can never be reached, the kernel says, must not lead into whatever code comes next.
  options.TrapUnreachable = true;
  options.NoTrapAfterNoreturn = true;
  std::unique_ptr<llvm::TargetMachine> machine(
      target().createTargetMachine(llvm::Triple(llvm::sys::getProcessTriple()), cpu, features, options,
                                   llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                   /*JIT=*/true));
  if (!machine) throw Error(ErrorCode::internal, "cannot create a code generator for this machine");
  return machine;
}

void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  ir::set_target(module, machine);
  for (llvm::Function& function : module) {
    // Large frames touch each page in turn, so that an overflow always meets the guard page.
    if (!function.isDeclaration()) function.addFnAttr("probe-stack", "inline-asm");
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  // But where sources ask for it: code of a single lane gains less than it costs to compile.
  tuning.LoopUnrolling = false;
  // A division that does not change in the loop, under a condition that does, is done by LLVM's vectors only if the
  // condition is true in the first of them (LLVM 22).
  tuning.LoopVectorization = false;
  ir::PassManagers managers(&machine, tuning);
  managers.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, managers.modules);
}

bool is_made_quickly(const llvm::Module& module, const llvm::TargetMachine& machine) {
  const unsigned bits = vector_register_bits(machine);
  return llvm::any_of(module, [&](const llvm::Function& each) { return code_size(each, bits) > most_optimised; });
}

std::string emit(llvm::Module& module, llvm::TargetMachine& machine, CodeForm form, const std::string& what) {
  // A step of Newton's from the processor's estimate makes NaN of 1 / sqrt(0) and of 1 / sqrt(infinity), and on
  // processors without AVX-512 infinities of denormals.
  for (llvm::Function& function : module) function.addFnAttr("reciprocal-estimates", "none");
  const auto kind = form == CodeForm::text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  unsigned size = 0;
  for (const llvm::Function& function : module) size += code_size(function, vector_register_bits(machine));
  machine.setOptLevel(is_made_quickly(module, machine) ? llvm::CodeGenOptLevel::None
                      : size > most_scheduled_twice    ? llvm::CodeGenOptLevel::Less
                                                       : llvm::CodeGenOptLevel::Default);
  // Instructions are selected as ever.
  machine.setO0WantsFastISel(false);
  return ir::write_code(module, machine, kind, what);
}

}  // namespace metalloid::engines::cpu
