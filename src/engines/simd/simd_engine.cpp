#include "engines/simd/simd_engine.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checker/code/resolve.h"
#include "checker/code/screen.h"
#include "engines/cpu_shared/code/machine.h"
#include "engines/cpu_shared/code/relax_alignment.h"
#include "engines/cpu_shared/code/target.h"
#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/embed_facts.h"
#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/cpu_shared/passes/lower_fences.h"
#include "engines/cpu_shared/passes/lower_logging.h"
#include "engines/cpu_shared/passes/lower_private_memory.h"
#include "engines/cpu_shared/passes/lower_threadgroup_memory.h"
#include "engines/simd/lane/choose_width.h"
#include "engines/simd/lane/follow_rows.h"
#include "engines/simd/lane/lane_positions.h"
#include "engines/simd/lane/pair_simdgroups.h"
#include "engines/simd/lane/prepare_calls.h"
#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/lane/read_before_writing.h"
#include "engines/simd/lane/share_accesses.h"
#include "engines/simd/lane/take_turns.h"
#include "engines/simd/lane/whole_turns.h"
#include "engines/simd/math/lower_vector_math.h"
#include "engines/simd/matrices/matrix_products.h"
#include "engines/simd/refusals.h"
#include "engines/simd/run/executable.h"
#include "engines/simd/run/simdgroup_abi.h"
#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/simdgroup/call_missing_accesses.h"
#include "engines/simd/simdgroup/carry_over_barriers.h"
#include "engines/simd/simdgroup/convert_by_table.h"
#include "engines/simd/simdgroup/count_together.h"
#include "engines/simd/simdgroup/hold_vectors.h"
#include "engines/simd/simdgroup/keep_constants_apart.h"
#include "engines/simd/simdgroup/keep_loads_apart.h"
#include "engines/simd/simdgroup/optimise_vectors.h"
#include "engines/simd/simdgroup/permute_loads.h"
#include "engines/simd/simdgroup/run_simdgroups.h"
#include "engines/simd/simdgroup/run_threadgroups.h"
#include "engines/simd/simdgroup/shift_out_elements.h"
#include "engines/simd/simdgroup/shorten_calls.h"
#include "engines/simd/simdgroup/split_at_barriers.h"
#include "engines/simd/simdgroup/stream_stores.h"
#include "engines/simd/tiles/tile_code.h"
#include "engines/simd/widening/wide_functions.h"
#include "ir/bounds/check_bounds.h"
#include "ir/operations.h"
#include "ir/specialise.h"
#include "ir/support/check_frames.h"
#include "ir/support/pointer_tags.h"
#include "metalloid/error.h"

namespace metalloid::engines::simd {
namespace {

// Instructions of a simdgroup's program, of rows, up to which code of all forms is quickly made.
constexpr unsigned most_in_all_forms = 3000;
// Threadgroups whose threads meet are whole, and seldom of other shapes than rows.
constexpr unsigned most_in_all_forms_of_threads_that_meet = 300;

// A lane's program with its lanes in place, and what it is widened into.
struct Form {
  Arrangement arrangement;
  llvm::Function *lane = nullptr, *simdgroup = nullptr;
};

llvm::Function* copy_of(llvm::Function& function, const char* name) {
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&function, map);
  copy->setName(name);
  return copy;
}

const char* name_of(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::row: return "row";
    case Arrangement::half_rows: return "half_rows";
    case Arrangement::column: return "column";
    case Arrangement::anywhere: return "anywhere";
    case Arrangement::alone: return "alone";
  }
  return "anywhere";
}

Entry entry_of(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::row:
    case Arrangement::half_rows:
    case Arrangement::column: return Entry::all_lanes;
    case Arrangement::anywhere: return Entry::number_of_lanes;
    case Arrangement::alone: return Entry::one_lane;
  }
  return Entry::number_of_lanes;
}

class SimdEngine : public Engine {
 public:
  std::string name() const override { return "simd"; }
  std::string description() const override { return "32 lanes in step"; }
  CheckRole check_role() const override { return CheckRole::screens; }
  std::string target_for(const Hardware& hardware) const override { return cpu::target_for(hardware); }
  std::string usual_target_for(const Hardware& hardware) const override { return cpu::usual_target_for(hardware); }
  void prepare() const override { cpu::prepare_code_generation(); }
  ir::InlinePolicy inline_policy() const override { return {.around_barriers = true}; }
  ir::OperationPolicy operation_policy(const std::string& /*target*/) const override {
    return
        [](const ir::Operation& operation, const llvm::CallBase& call) { return has_tile_code(operation.whole, call); };
  }

  Compilation compile(ir::KernelModule kernel, CodeForm form, const std::string& target) const override {
    if (auto remark = refusal(*kernel.module, kernel.info.symbol)) return {{}, {*remark}};
    const auto wanted = cpu::Target::from(target);
    auto machine = cpu::make_machine(wanted.processor.name, wanted.processor.features);
    std::vector<Remark> remarks;
    if (!lower(kernel, *machine, wanted, remarks)) return {{}, std::move(remarks)};
    if (cpu::is_made_quickly(*kernel.module, *machine)) {
      remarks.push_back(
          {{}, "a long program, whose machine code is made quickly: it may run 1.3 times as long", {}, 0});
    }
    return {cpu::emit(*kernel.module, *machine, form, fmt::format("kernel '{}'", kernel.info.name)),
            std::move(remarks)};
  }

  std::unique_ptr<Executable> load(std::span<const char> bytes, const KernelInfo& info, Hardware& /*hardware*/,
                                   std::unique_ptr<const AssemblyStore> /*store*/) const override {
    return load_executable(bytes, info);
  }

 private:
  // Whether the engine takes the kernel; the remarks say why not, or what costs vectorisation.
  static bool lower(ir::KernelModule& kernel, llvm::TargetMachine& machine, const cpu::Target& target,
                    std::vector<Remark>& remarks) {
    const bool checks_bounds = target.checks_bounds;
    llvm::Module& module = *kernel.module;
    auto pass = [&](std::string_view name, auto&& run) {
      run();
      ir::dump_after(name, module);
    };
    cpu::KernelFacts facts{};
    SimdgroupFacts simdgroup_facts{};
    const llvm::Function* barrier = module.getFunction(llvm::StringRef(ir::threadgroup_barrier_name));
    facts.threads_meet = barrier && !barrier->use_empty();
    llvm::Function* lane = nullptr;
    const bool is_screened = checker::is_checked(module);
    if (is_screened && ir::has_accesses_in_calls(kernel)) {
      remarks.push_back({{}, "it is not known in functions that stay calls which arguments pointers belong to", {}, 0});
      return false;
    }
    if (is_screened) pass("screen", [&] { checker::screen(kernel); });
    if (checks_bounds && ir::has_accesses_in_calls(kernel)) pass("tag_pointers", [&] { ir::tag_pointers(kernel); });
    pass("hand_on_structures", [&] { hand_on_structures(module, *module.getFunction(kernel.info.symbol)); });
    pass("relax_alignment", [&] { cpu::relax_alignment(module); });
    pass("lower_fences", [&] { cpu::lower_fences(module); });
    pass("lower_arguments",
         [&] { lane = cpu::lower_arguments(module, kernel.info, cpu::EntryForm::one_lane).function; });
    pass("lower_logging", [&] { facts.logs = cpu::lower_logging(module, *lane); });
    if (is_screened && facts.logs) {
      remarks.push_back({{}, "a checked kernel's messages would be written twice", {}, 0});
      return false;
    }
    pass("retarget", [&] { cpu::retarget(module, machine); });
    pass("pass_first_thread", [&] { pass_first_thread(module, *lane); });
    // The lane's program and the functions of it that stay calls.
    std::vector<llvm::Function*> program = functions_that_stay(*lane);
    program.push_back(lane);
    const auto each = [&](auto&& run) {
      for (llvm::Function* function : program) run(*function);
    };
    pass("optimise_lane", [&] { each(optimise_lane); });
    if (!is_screened)
      pass("choose_width",
           [&] { choose_width(program, kernel.info, facts.threads_meet != 0, cpu::vector_register_bits(machine)); });
    const unsigned width = step_width(*lane);
    facts.threads_per_program = simdgroup_facts.lanes = width;
    if (facts.threads_meet) pass("take_turns", [&] { take_turns(*lane); });
    // While variables of all kinds are there as such.
    if (is_screened || checks_bounds) {
      pass("check_bounds", [&] { each([&](llvm::Function& function) { check_bounds(function, kernel.info); }); });
    }
    pass("interleave_variables", [&] { each(interleave_variables); });
    pass("split_copies", [&] { each(split_copies); });
    pass("lower_threadgroup_memory",
         [&] { facts.static_threadgroup_memory = cpu::lower_threadgroup_memory(module, *lane); });
    pass("read_before_writing",
         [&] { each([&](llvm::Function& function) { read_before_writing(function, kernel.info); }); });
    pass("join_accesses", [&] { each(join_accesses); });
    std::vector<Form> forms = {{Arrangement::row}, {Arrangement::anywhere}};
    const bool asks = asks_for_rows(*lane);
    if (asks && width == simdgroup_width) forms.insert(forms.begin() + 1, {Arrangement::half_rows});
    facts.slow_alone = target.is_usual;
    facts.slow_columns = target.is_usual && asks;
    if (asks && !target.is_usual) forms.insert(forms.end() - 1, {Arrangement::column});
    if (!target.is_usual && !is_screened) forms.insert(forms.end() - 1, {Arrangement::alone});
    pass("place_lanes", [&] {
      for (Form& form : forms) {
        const bool is_last = &form == &forms.back();
        form.lane = is_last                                ? lane
                    : form.arrangement == Arrangement::row ? &copy_for_rows(*lane)
                                                           : copy_of(*lane, name_of(form.arrangement));
      }
      lane->setName(name_of(Arrangement::anywhere));
      for (Form& form : forms) place_lanes(*form.lane, form.arrangement);
    });
    pass("follow_rows", [&] { follow_rows(*forms.front().lane); });
    pass("split_off_whole_turns", [&] {
      if (width == simdgroup_width) split_off_whole_turns(*forms.front().lane);
    });
    // A row's program for two simdgroups; null if there is none.
    llvm::Function* pair = nullptr;
    pass("pair_simdgroups", [&] {
      if (!facts.threads_meet && !is_screened && width == simdgroup_width) pair = pair_simdgroups(*forms.front().lane);
    });
    pass("simplify_control_flow", [&] {
      for (Form& form : forms) simplify_control_flow(*form.lane);
      if (pair) simplify_control_flow(*pair);
      for (llvm::Function* function : functions_that_stay(*lane)) simplify_control_flow(*function);
    });
    pass("fetch_ahead", [&] {
      for (Form& form : forms) fetch_ahead(*form.lane);
      if (pair) fetch_ahead(*pair);
    });
    pass("share_accesses", [&] {
      for (Form& form : forms) share_accesses(*form.lane);
      if (pair) share_accesses(*pair);
    });
    WideFunctions functions;
    llvm::Function* wide_pair = nullptr;
    pass("widen", [&] {
      for (std::size_t i = 0; i < forms.size(); ++i) {
        Form& form = forms[i];
        std::vector<Remark> said;
        form.simdgroup = functions.widen(*form.lane, entry_of(form.arrangement), said);
        // The other forms say the same, and what only threadgroups of rare shapes cost.
        if (form.arrangement == Arrangement::row || !form.simdgroup) remarks = std::move(said);
        if (!form.simdgroup) return;
        if (i > 0 || !target.is_usual) continue;
        const unsigned size = form.simdgroup->getInstructionCount();
        if (size <= (facts.threads_meet ? most_in_all_forms_of_threads_that_meet : most_in_all_forms)) continue;
        const auto left_out = size <= most_in_all_forms ? forms.end() - 1 : forms.begin() + 1;
        std::for_each(left_out, forms.end(), [](const Form& each) { each.lane->eraseFromParent(); });
        forms.erase(left_out, forms.end());
        facts.row = width;
        facts.half_rows = forms.size() > 1;
      }
      std::vector<Remark> said;  // the same as of the row
      if (pair && forms.front().simdgroup) wide_pair = functions.widen(*pair, Entry::all_lanes, said);
    });
    if (llvm::any_of(forms, [](const Form& form) { return !form.simdgroup; })) return false;
    functions.erase_lanes();
    pass("run_simdgroups", [&] {
      const auto simdgroup_of = [&](Arrangement arrangement) -> llvm::Function* {
        const auto form = llvm::find_if(forms, [&](const Form& each) { return each.arrangement == arrangement; });
        return form == forms.end() ? nullptr : form->simdgroup;
      };
      const Simdgroups simdgroups = {width,
                                     simdgroup_of(Arrangement::row),
                                     wide_pair,
                                     simdgroup_of(Arrangement::half_rows),
                                     simdgroup_of(Arrangement::column),
                                     simdgroup_of(Arrangement::anywhere),
                                     simdgroup_of(Arrangement::alone)};
      llvm::Function* entry = run_simdgroups(module, simdgroups, facts.threads_meet != 0);
      if (!facts.threads_meet) forms.front().simdgroup = entry;  // holds the row's code
      cpu::retarget(module, machine);
    });
    pass("lower_vector_math", [&] { lower_vector_math(module, machine); });
    pass("keep_matrix_orders", [&] { keep_matrix_orders(module); });
    pass("optimise_vectors", [&] { optimise_vectors(module, machine); });
    pass("stream_stores", [&] {
      llvm::SmallVector<const llvm::Function*, 8> all = {module.getFunction(llvm::StringRef(cpu::run_thread_name))};
      for (const Form& form : forms) all.push_back(form.simdgroup);
      for (Form& form : forms) {
        if (entry_of(form.arrangement) == Entry::all_lanes) stream_stores(*form.simdgroup, all);
      }
    });
    pass("run_threadgroups", [&] {
      if (!facts.threads_meet) facts.runs_several = run_threadgroups(*forms.front().simdgroup, &machine);
    });
    pass("lower_private_memory", [&] {
      facts.private_memory = 0;
      for (Form& form : forms) {
        facts.private_memory =
            std::max(facts.private_memory, cpu::lower_private_memory(module, *form.simdgroup, facts.threads_meet != 0));
      }
    });
    if (facts.threads_meet) {
      pass("carry_over_barriers", [&] {
        for (Form& form : forms) carry_over_barriers(*form.simdgroup);
      });
      pass("split_at_barriers", [&] {
        for (Form& form : forms) {
          simdgroup_facts.frame_bytes =
              std::max(simdgroup_facts.frame_bytes, split_at_barriers(module, *form.simdgroup, machine));
        }
      });
    }
    // Behind the split, which would keep places for operands with what lives on.
    pass("lower_products", [&] { lower_products(module, machine); });
    pass("choose_tile_code", [&] { choose_tile_code(module, machine); });
    pass("permute_loads", [&] { permute_loads(module, machine); });
    pass("shift_out_elements", [&] { shift_out_elements(module, machine); });
    pass("convert_by_table", [&] { convert_by_table(module, machine); });
    pass("count_together", [&] { count_together(module, machine); });
    pass("shorten_calls", [&] { shorten_calls(module); });
    pass("call_missing_accesses", [&] { call_missing_accesses(module, machine); });
    pass("keep_constants_apart", [&] { keep_constants_apart(module); });
    pass("keep_loads_apart", [&] { keep_loads_apart(module); });
    pass("hold_vectors", [&] { hold_vectors(module); });
    ir::check_frames(module, kernel.info.name, std::uint64_t{4096} << 10);
    pass("embed_facts", [&] {
      cpu::embed_facts(module, cpu::facts_name, facts);
      if (facts.threads_meet) cpu::embed_facts(module, cpu::engine_facts_name, simdgroup_facts);
    });
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    if (llvm::verifyModule(module, &stream)) {
      throw Error(ErrorCode::internal, fmt::format("invalid code for kernel '{}': {}", kernel.info.name, problems));
    }
    return true;
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine() { return std::make_unique<SimdEngine>(); }

}  // namespace metalloid::engines::simd
