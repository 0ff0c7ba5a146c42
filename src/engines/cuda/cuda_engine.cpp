#include "engines/cuda/cuda_engine.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/cuda/code/code_file.h"
#include "engines/cuda/code/machine.h"
#include "engines/cuda/code/target.h"
#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/lanes/fragments.h"
#include "engines/cuda/lanes/products.h"
#include "engines/cuda/passes/address_in_bytes.h"
#include "engines/cuda/passes/align_accesses.h"
#include "engines/cuda/passes/align_loops.h"
#include "engines/cuda/passes/check_bounds.h"
#include "engines/cuda/passes/convert_exactly.h"
#include "engines/cuda/passes/copy_ahead.h"
#include "engines/cuda/passes/expand_copies.h"
#include "engines/cuda/passes/forget_results.h"
#include "engines/cuda/passes/gather_lanes.h"
#include "engines/cuda/passes/join_products.h"
#include "engines/cuda/passes/join_threads.h"
#include "engines/cuda/passes/join_turns.h"
#include "engines/cuda/passes/know_threads.h"
#include "engines/cuda/passes/limit_recursion.h"
#include "engines/cuda/passes/load_fragments.h"
#include "engines/cuda/passes/loop_addresses.h"
#include "engines/cuda/passes/lower_arguments.h"
#include "engines/cuda/passes/lower_bounds_checks.h"
#include "engines/cuda/passes/lower_lanes.h"
#include "engines/cuda/passes/lower_logging.h"
#include "engines/cuda/passes/lower_order.h"
#include "engines/cuda/passes/lower_tiles.h"
#include "engines/cuda/passes/mark_apart.h"
#include "engines/cuda/passes/merge_constant_space.h"
#include "engines/cuda/passes/multiply_floats.h"
#include "engines/cuda/passes/order_copies.h"
#include "engines/cuda/passes/pass_parameters.h"
#include "engines/cuda/passes/quick_math.h"
#include "engines/cuda/passes/read_ahead.h"
#include "engines/cuda/passes/read_references.h"
#include "engines/cuda/passes/read_words.h"
#include "engines/cuda/passes/reports.h"
#include "engines/cuda/passes/ring_tiles.h"
#include "engines/cuda/passes/round_bfloats.h"
#include "engines/cuda/passes/stop_loops.h"
#include "engines/cuda/passes/unroll_loops.h"
#include "engines/cuda/run/assembled.h"
#include "engines/cuda/run/executable.h"
#include "ir/math/lower_math.h"
#include "ir/operations.h"
#include "ir/passes/explicit_lanes.h"
#include "ir/passes/mark_constants.h"
#include "ir/specialise.h"
#include "ir/support/check_frames.h"
#include "ir/support/pass_managers.h"
#include "ir/support/pointer_tags.h"
#include "ir/support/target_code.h"

namespace metalloid::engines::cuda {
namespace {

// Reads of one thread that are on their way at a time hide what each takes.
constexpr unsigned turns_at_once = 8;
// Instructions of a condition's second half that are done whatever the first says.
constexpr int cheaper_than_a_branch = 4;

// LLVM's pass, by its name.
constexpr const char* strength_reduction = "loop-reduce";

// CUDA's limit of a thread's variables.
constexpr std::uint64_t most_local_bytes = 512 << 10;

Remark remark_at(const llvm::Instruction* place, std::string reason) {
  Remark remark{.engine = {}, .reason = std::move(reason), .source_file = {}};
  if (const llvm::DILocation* location = place ? place->getDebugLoc().get() : nullptr) {
    remark.source_file = location->getFilename().str();
    remark.source_line = location->getLine();
  }
  return remark;
}

class CudaEngine final : public Engine {
 public:
  std::string name() const override { return "cuda"; }
  std::string description() const override { return "a warp for each simdgroup"; }
  std::string target_for(const Hardware& hardware) const override { return mode() + " " + hardware.processor(); }
  std::string usual_target_for(const Hardware& hardware) const override {
    return mode() + " usual " + hardware.processor();
  }
  std::string target_for_overlaps(const Hardware& hardware) const override {
    Target target = Target::from(usual_target_for(hardware));
    target.may_overlap = true;
    return target.text();
  }
  std::string target_for_size(const Hardware& hardware, const Size& threads) const override {
    Target target = Target::from(usual_target_for(hardware));
    target.threads = {threads.x, threads.y, threads.z};
    return target.text();
  }
  void prepare() const override { prepare_code_generation(); }
  ir::InlinePolicy inline_policy() const override { return {.everything = true}; }

  ir::OperationPolicy operation_policy(const std::string& target) const override {
    return [wanted = Target::from(target)](const ir::Operation& operation, const llvm::CallBase& call) {
      return is_fragment_load(operation) || is_tile_operation(operation, call, wanted);
    };
  }

  Compilation compile(ir::KernelModule kernel, CodeForm form, const std::string& target) const override {
    const Target wanted = Target::from(target);
    if (const llvm::CallInst* meeting = ir::explicit_lanes(kernel)) {
      return {{},
              {remark_at(meeting,
                         "lanes may be at threadgroup barriers of functions that call themselves, and "
                         "others wait for them")}};
    }
    ir::dump_after("explicit_lanes", *kernel.module);
    if (wanted.checks_bounds && ir::has_accesses_in_calls(kernel)) {
      ir::tag_pointers(kernel);
      ir::dump_after("tag_pointers", *kernel.module);
    }
    const auto machine = make_machine(wanted);
    std::optional<KernelFacts> facts;
    if (wanted.is_usual && !wanted.knows_threads() && threads_are_alone(*kernel.module, kernel.info))
      facts = lower_joined(kernel, *machine, wanted);
    const auto placement = wanted.is_usual ? Placement::by_whole_threadgroup : Placement::by_threadgroup;
    if (!facts) facts = lower(kernel, *machine, wanted, placement);
    const std::string code = ir::write_code(*kernel.module, *machine, llvm::CodeGenFileType::AssemblyFile,
                                            fmt::format("kernel '{}'", kernel.info.name),
                                            goes_along_many_rows(*kernel.module) ? strength_reduction : "");
    return {form == CodeForm::text ? code : write_code_file({.facts = *facts, .code = code}), {}};
  }

  std::string assembler_for(const Hardware& hardware) const override {
    return driver().file + " " + hardware.processor();
  }
  std::string machine_code_of(std::span<const char> bytes, Hardware& hardware) const override {
    const auto made = assembled(read_code_file(bytes), static_cast<Gpu&>(hardware));
    return made ? made->code : std::string();
  }

  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info, Hardware& hardware,
                                   std::unique_ptr<const AssemblyStore> store) const override {
    return load_executable(bytes, info, hardware, std::move(store));
  }

 private:
  static std::string mode() {
    const char* variable = std::getenv("METALLOID_BOUNDS");
    return variable && std::string_view(variable) == "off" ? "unchecked" : "checked";
  }

  // For dispatches that join_threads is for. None, and the kernel as it was, if that is of no use to it.
  static std::optional<KernelFacts> lower_joined(ir::KernelModule& kernel, llvm::TargetMachine& machine,
                                                 const Target& target) {
    auto before = llvm::CloneModule(*kernel.module);
    auto facts = lower(kernel, machine, target, Placement::in_grid);
    if (!facts) kernel.module = std::move(before);
    return facts;
  }

  static std::optional<KernelFacts> lower(ir::KernelModule& kernel, llvm::TargetMachine& machine, const Target& target,
                                          Placement placement) {
    llvm::Module& module = *kernel.module;
    const auto pass = [&](std::string_view name, auto&& run) {
      run();
      ir::dump_after(name, module);
    };
    Entry entry;
    bool are_apart = false;
    // Joined threads keep the order of their own accesses, and what is written may be what is read.
    if (placement == Placement::by_whole_threadgroup && !target.may_overlap) {
      pass("mark_apart", [&] { are_apart = mark_apart(module, kernel.info); });
    }
    pass("lower_arguments", [&] {
      const auto alignment = target.is_usual ? ArgumentAlignment::of_their_types : ArgumentAlignment::none;
      const bool is_whole = placement == Placement::by_whole_threadgroup;
      const auto lanes = is_whole ? order_for(module) : LaneOrder::plain;
      const auto groups = is_whole && multiplies_matrices(module) ? GroupOrder::in_strips : GroupOrder::plain;
      entry = lower_arguments(module, kernel.info, alignment, placement, lanes, groups);
    });
    if (target.knows_threads()) pass("know_threads", [&] { know_threads(*entry.function, target.threads); });
    std::vector<Entry> functions;  // the kernel's, and those that stay calls
    pass("pass_parameters", [&] { functions = pass_parameters(module, entry); });
    bool logs = false;
    pass("lower_logging", [&] { logs = lower_logging(module, functions); });
    pass("gather_lanes", [&] { gather_lanes(module, functions); });
    pass("lower_lanes", [&] { lower_lanes(module, entry); });
    pass("lower_order", [&] { lower_order(module); });
    pass("mark_constants", [&] { ir::mark_constants(module); });
    pass("unroll_arrays", [&] { unroll_arrays(*entry.function); });
    pass("tidy", [&] { tidy(*entry.function); });
    pass("round_bfloats", [&] { round_bfloats(module); });
    pass("expand_copies", [&] { expand_copies(*entry.function); });
    if (are_apart) pass("mark_invariant", [&] { mark_invariant(entry); });
    if (target.checks_bounds) {
      pass("check_bounds", [&] {
        for (const Entry& each : functions) check_bounds(each, kernel.info);
      });
    }
    const bool is_row_of_threads = target.knows_threads() && target.threads[1] == 1 && target.threads[2] == 1;
    if (are_apart && is_row_of_threads) pass("join_turns", [&] { join_turns(entry, target.threads[0]); });
    std::uint32_t ring_bytes = 0;
    const bool copies_ahead = are_apart && target.has_asynchronous_copies();
    if (copies_ahead) pass("ring_tiles", [&] { ring_bytes = ring_tiles(*entry.function); });
    pass("hoist_checks", [&] { hoist_checks(entry, turns_at_once); });
    if (are_apart) {
      pass("order_copies", [&] { order_copies(entry); });
      if (copies_ahead) pass("copy_ahead", [&] { copy_ahead(*entry.function); });
      pass("read_ahead", [&] { read_ahead(*entry.function); });
    }
    pass("align_loops", [&] { align_loops(*entry.function); });
    pass("align_accesses", [&] { align_accesses(*entry.function); });
    std::uint32_t joined = 0;
    bool may_not_end = false;
    if (placement == Placement::in_grid) {
      pass("join_threads", [&] { joined = join_threads(entry); });
      if (joined == 0) return std::nullopt;
    }
    if (target.is_usual) pass("read_references", [&] { read_references(entry, kernel.info); });
    functions.front() = entry;  // as it is by now
    Reports reports(functions);
    pass("lower_bounds_checks", [&] { lower_bounds_checks(module, reports); });
    pass("lower_traps", [&] { lower_traps(module, reports); });
    pass("limit_recursion", [&] { limit_recursion(functions, reports); });
    pass("place_arguments", [&] { place_arguments(module, entry, kernel.info); });
    pass("limit_threads", [&] {
      // Of joined threads the host chooses blocks, not the source.
      if (joined == 0) limit_threads(*entry.function, kernel.info, target);
    });
    pass("stop_loops", [&] {
      for (const Entry& each : functions) may_not_end |= stop_loops(each);
    });
    pass("merge_constant_space", [&] { merge_constant_space(module); });
    pass("quick_math", [&] { quick_math(module); });
    pass("lower_math", [&] {
      ir::math::lower_math(module, {.fused_multiply_add = true, .scaling = false, .rounding = true, .half = true},
                           ir::math::MathForms::vectors_and_scalars);
    });
    pass("unroll_loops", [&] { unroll_loops(module); });
    pass("retarget", [&] { retarget(module, machine); });
    TileNeeds needs;
    pass("lower_tiles", [&] { needs = lower_tiles(module, entry.lane_order); });
    pass("optimise", [&] { optimise(module, machine); });
    ir::check_frames(module, kernel.info.name, most_local_bytes);
    pass("multiply_floats", [&] { multiply_floats(module, entry.lane_order); });
    pass("join_products", [&] { join_products(module); });
    pass("load_fragments", [&] { load_fragments(module); });
    pass("tidy_products", [&] { tidy_products(module); });
    pass("address_in_bytes", [&] { address_in_bytes(module); });
    // Of code that reads sizes one by one.
    const bool counts = placement == Placement::by_whole_threadgroup && !target.may_overlap && counts_threads(module);
    if (are_apart) {
      pass("read_words", [&] { read_words(module, machine); });
      pass("unroll_reading_loops", [&] { unroll_reading_loops(module, machine); });
    }
    pass("convert_exactly", [&] { convert_exactly(module); });
    pass("forget_results", [&] { forget_results(module, target); });
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(module, &stream)) {
      throw Error(ErrorCode::internal, fmt::format("invalid code for kernel '{}': {}", kernel.info.name, problems));
    }
    return KernelFacts{.parameter_bytes = entry.parameter_bytes,
                       .most_threads = target.is_usual ? 0 : most_threads(kernel.info),
                       .joined_threads = joined,
                       .may_not_end = may_not_end || functions.size() > 1,
                       .wants_whole = entry.simdgroups_are_whole,
                       .wants_apart = are_apart,
                       .wants_threads = needs.threads,
                       .threadgroup_bytes = needs.bytes + ring_bytes,
                       .recurses = functions.size() > 1,
                       .logs = logs,
                       .counts_threads = counts,
                       .threads = target.threads};
  }

  // So that checks see through variables that need no memory, and ends of loops that lie in constant memory, and that
  // accesses of a loop that is unrolled have one check where they lie together.
  static void tidy(llvm::Function& function) {
    ir::PassManagers managers;
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(cheaper_than_a_branch)));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    passes.run(function, managers.functions);
  }

  // What addresses have in common comes once, and in front of loops.
  static void tidy_products(llvm::Module& module) {
    ir::PassManagers managers;
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) passes.run(function, managers.functions);
    }
  }

  static std::uint32_t most_threads(const KernelInfo& info) {
    const std::uint32_t own = info.max_total_threads_per_threadgroup;
    return own != 0 ? std::min(own, max_threads_per_threadgroup) : max_threads_per_threadgroup;
  }

  // Code for the usual case takes the registers that it wants, unless the source says how many threads there are.
  static void limit_threads(llvm::Function& entry, const KernelInfo& info, const Target& target) {
    if (target.is_usual && info.max_total_threads_per_threadgroup == 0) return;
    entry.addFnAttr("nvvm.maxntid", fmt::format("{},1,1", most_threads(info)));
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine() { return std::make_unique<CudaEngine>(); }

}  // namespace metalloid::engines::cuda
