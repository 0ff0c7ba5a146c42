// Runs the .ll files of this folder: small pieces of IR, the passes that they go through, and what must come out, as
// patterns of LLVM's FileCheck. A new pass gets an entry in `passes` and a file.
//
//   ; RUN: fix_numeric_semantics           passes that the function @kernel, and what it reaches, go through
//   ; RUN(FLAT): inline_everything         once more from the start, for lines that begin with FLAT instead of CHECK
//   ; ARGUMENT: buffer                     what reflection says of the kernel's parameters, in their order: buffer,
//   ; ARGUMENT: threadgroup                reference (constant, 8 bytes), threadgroup, texture or the name of a
//                                          built-in value
//   ; CONSTANT: mode 2                     an int function constant and its value; without one it has none
//   ; ERROR unsupported: text              instead of code, the pass throws this
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker/code/drop_private_checks.h"
#include "checker/code/follow_undefined.h"
#include "checker/code/instrument.h"
#include "checker/code/mark_variables.h"
#include "checker/code/mark_ways_around.h"
#include "checker/code/resolve.h"
#include "checker/code/screen.h"
#include "engines/cpu_shared/code/machine.h"
#include "engines/cpu_shared/code/relax_alignment.h"
#include "engines/cpu_shared/passes/check_bounds.h"
#include "engines/cpu_shared/passes/drop_repeated.h"
#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/cpu_shared/passes/lower_checks.h"
#include "engines/cpu_shared/passes/lower_fences.h"
#include "engines/cpu_shared/passes/lower_logging.h"
#include "engines/cpu_shared/passes/lower_private_memory.h"
#include "engines/cpu_shared/passes/lower_threadgroup_memory.h"
#include "engines/cpu_shared/passes/report_bounds.h"
#include "engines/cuda/code/machine.h"
#include "engines/cuda/code/target.h"
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
#include "engines/cuda/passes/lower_logging.h"
#include "engines/cuda/passes/lower_tiles.h"
#include "engines/cuda/passes/mark_apart.h"
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
#include "engines/reference/lower_meetings.h"
#include "engines/reference/split_at_meetings.h"
#include "engines/simd/lane/choose_width.h"
#include "engines/simd/lane/follow_rows.h"
#include "engines/simd/lane/lane_positions.h"
#include "engines/simd/lane/limit_unrolling.h"
#include "engines/simd/lane/pair_simdgroups.h"
#include "engines/simd/lane/prepare_calls.h"
#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/lane/read_before_writing.h"
#include "engines/simd/lane/share_accesses.h"
#include "engines/simd/lane/whole_turns.h"
#include "engines/simd/math/lower_vector_math.h"
#include "engines/simd/matrices/matrix_products.h"
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
#include "engines/simd/widening/wide_functions.h"
#include "ir/assemble.h"
#include "ir/bounds/hoist_checks.h"
#include "ir/math/lower_math.h"
#include "ir/meetings.h"
#include "ir/passes/check_operations.h"
#include "ir/passes/copy_bools.h"
#include "ir/passes/drop_dead_code.h"
#include "ir/passes/explicit_lanes.h"
#include "ir/passes/fix_numeric_semantics.h"
#include "ir/passes/fold_function_constants.h"
#include "ir/passes/guard_powers.h"
#include "ir/passes/infer_address_spaces.h"
#include "ir/passes/inline_functions.h"
#include "ir/passes/join_loops.h"
#include "ir/passes/know_constants.h"
#include "ir/passes/mark_constants.h"
#include "ir/passes/mark_tables.h"
#include "ir/passes/normalise_attributes.h"
#include "ir/passes/place_turn_ends.h"
#include "ir/passes/private_names.h"
#include "ir/passes/refuse_unsupported.h"
#include "ir/passes/resolve_indirect_calls.h"
#include "ir/passes/simplify.h"
#include "ir/passes/take_operations.h"
#include "ir/passes/thread_variables.h"
#include "ir/passes/threadgroup_addresses.h"
#include "ir/support/check_frames.h"
#include "ir/support/long_blocks.h"
#include "ir/support/pointer_tags.h"
#include "ir/support/promote_variables.h"
#include "metalloid/error.h"
#include "metalloid/library.h"

namespace metalloid {
namespace passes_test {

struct Subject {
  ir::KernelModule& kernel;
  llvm::Function* entry;  // of the kernel, or what an engine put in its place
  LibraryInfo& library;
  const FunctionConstants& constants;
  engines::cpu::Entry lowered = {};
  engines::cuda::Entry on_gpu = {};
  std::vector<engines::cuda::Entry> functions_on_gpu = {};

  llvm::Module& module() const { return *kernel.module; }
};

using Pass = std::function<void(Subject&)>;

// What comes of an engine that wants no loads but those from device memory.
bool is_wanted(const ir::Operation& operation, const llvm::CallBase&) {
  return operation.whole != "simdgroup_matrix.load" || operation.name.ends_with(".device");
}

void lower_arguments_of_a_gpu(Subject& subject, engines::cuda::Placement placement) {
  constexpr auto alignment = engines::cuda::ArgumentAlignment::of_their_types;
  subject.on_gpu = engines::cuda::lower_arguments(subject.module(), subject.kernel.info, alignment, placement);
  subject.entry = subject.on_gpu.function;
}

void widen(Subject& subject, bool is_whole) {
  using engines::simd::Entry;
  std::vector<Remark> remarks;
  engines::simd::WideFunctions functions;
  llvm::Function* simdgroup =
      functions.widen(*subject.entry, is_whole ? Entry::all_lanes : Entry::number_of_lanes, remarks);
  if (!simdgroup) throw Error(ErrorCode::unsupported, remarks.at(0).reason);
  simdgroup->setLinkage(llvm::GlobalValue::ExternalLinkage);  // nobody calls it yet
  subject.entry = simdgroup;
}

// Functions of a state and a first thread; one has its position too, one the number of lanes.
engines::simd::Simdgroups simdgroups_of(llvm::Module& module, unsigned width = simdgroup_width) {
  engines::simd::Simdgroups result{};
  result.width = width;
  for (llvm::Function& function : module) {
    if (function.arg_size() == 3) result.anywhere = &function;
    if (function.arg_size() == 2 && !function.empty()) {
      (!result.half_rows ? result.half_rows : !result.column ? result.column : result.alone) = &function;
    }
    if (function.arg_size() == 5) result.row = &function;
    if (function.arg_size() == 10) result.pair = &function;
  }
  return result;
}

const std::map<std::string, Pass>& passes() {
  namespace reference = engines::reference;
  namespace cpu = engines::cpu;
  namespace simd = engines::simd;
  static const auto machine = cpu::make_machine();
  static const std::map<std::string, Pass> list = {
      {"select_kernel", [](Subject&) {}},  // how a kernel comes out of its library at all
      {"take_operations", [](Subject& s) { ir::take_operations(s.module(), is_wanted); }},
      {"make_names_private", [](Subject& s) { s.library = ir::make_names_private(s.kernel, s.library); }},
      {"normalise_attributes", [](Subject& s) { ir::normalise_attributes(s.module()); }},
      {"fix_numeric_semantics", [](Subject& s) { ir::fix_numeric_semantics(s.module()); }},
      {"fold_function_constants", [](Subject& s) { ir::fold_function_constants(s.kernel, s.library, s.constants); }},
      {"drop_dead_code", [](Subject& s) { ir::drop_dead_code(s.module()); }},
      {"require_function_constants", [](Subject& s) { ir::require_function_constants(s.kernel, s.library); }},
      {"refuse_unsupported", [](Subject& s) { ir::refuse_unsupported(s.kernel); }},
      {"resolve_indirect_calls", [](Subject& s) { ir::resolve_indirect_calls(s.module()); }},
      {"place_threadgroup_addresses", [](Subject& s) { ir::place_threadgroup_addresses(s.kernel); }},
      {"place_turn_ends", [](Subject& s) { ir::place_turn_ends(s.module()); }},
      {"instrument_for_checks", [](Subject& s) { checker::instrumentation({}).run(s.kernel); }},
      {"mark_variables", [](Subject& s) { checker::mark_variables(*s.entry); }},
      {"follow_undefined", [](Subject& s) { checker::follow_undefined(s.module(), /*tells=*/true); }},
      {"drop_private_checks", [](Subject& s) { checker::drop_private_checks(s.module()); }},
      {"mark_ways_around", [](Subject& s) { checker::mark_ways_around(s.module()); }},
      {"resolve_checks", [](Subject& s) { checker::resolve(s.kernel); }},
      {"screen_checks", [](Subject& s) { checker::screen(s.kernel); }},
      {"lower_checks", [](Subject& s) { cpu::lower_checks(s.module(), *s.entry); }},
      {"inline_functions", [](Subject& s) { ir::inline_functions(s.kernel, {}); }},
      {"inline_around_barriers", [](Subject& s) { ir::inline_functions(s.kernel, {.around_barriers = true}); }},
      {"inline_everything", [](Subject& s) { ir::inline_functions(s.kernel, {.everything = true}); }},
      {"place_thread_variables", [](Subject& s) { ir::place_thread_variables(s.kernel); }},
      {"infer_address_spaces", [](Subject& s) { ir::infer_address_spaces(s.module()); }},
      {"mark_constants", [](Subject& s) { ir::mark_constants(s.module()); }},
      {"simplify", [](Subject& s) { ir::simplify(s.module()); }},
      {"know_constants", [](Subject& s) { ir::know_constants(s.module()); }},
      {"mark_tables", [](Subject& s) { ir::mark_tables(s.module()); }},
      {"copy_bools", [](Subject& s) { ir::copy_bools(s.module()); }},
      {"guard_powers", [](Subject& s) { ir::guard_powers(s.module()); }},
      {"join_loops", [](Subject& s) { ir::join_loops(s.module()); }},
      {"explicit_lanes", [](Subject& s) { EXPECT_EQ(ir::explicit_lanes(s.kernel), nullptr); }},
      {"check_operations", [](Subject& s) { ir::check_operations(s.kernel); }},
      {"tag_pointers", [](Subject& s) { ir::tag_pointers(s.kernel); }},
      {"lower_fences", [](Subject& s) { cpu::lower_fences(s.module()); }},
      {"relax_alignment", [](Subject& s) { cpu::relax_alignment(s.module()); }},
      {"retarget", [](Subject& s) { cpu::retarget(s.module(), *machine); }},
      {"lower_arguments",
       [](Subject& s) {
         const bool meet = ir::threads_meet(s.module());
         const auto form = meet ? cpu::EntryForm::one_thread : cpu::EntryForm::threads_in_loops;
         s.lowered = cpu::lower_arguments(s.module(), s.kernel.info, form);
         s.entry = s.lowered.function;
       }},
      {"lower_arguments_of_a_lane",
       [](Subject& s) {
         s.entry = cpu::lower_arguments(s.module(), s.kernel.info, cpu::EntryForm::one_lane).function;
       }},
      {"lower_threadgroup_memory", [](Subject& s) { cpu::lower_threadgroup_memory(s.module(), *s.entry); }},
      {"check_bounds", [](Subject& s) { cpu::check_bounds(s.module(), s.kernel.info); }},
      {"check_bounds_of_a_lane", [](Subject& s) { simd::check_bounds(*s.entry, s.kernel.info); }},
      {"mark_apart", [](Subject& s) { EXPECT_TRUE(engines::cuda::mark_apart(s.module(), s.kernel.info)); }},
      {"lower_arguments_of_a_gpu",
       [](Subject& s) { lower_arguments_of_a_gpu(s, engines::cuda::Placement::by_whole_threadgroup); }},
      {"lower_arguments_of_a_gpu_at_edges",
       [](Subject& s) { lower_arguments_of_a_gpu(s, engines::cuda::Placement::by_threadgroup); }},
      {"mark_invariant", [](Subject& s) { engines::cuda::mark_invariant(s.on_gpu); }},
      {"hoist_checks", [](Subject& s) { ir::hoist_checks(*s.entry, 8); }},
      {"check_bounds_of_a_gpu", [](Subject& s) { engines::cuda::check_bounds(s.on_gpu, s.kernel.info); }},
      {"pass_parameters",
       [](Subject& s) { s.functions_on_gpu = engines::cuda::pass_parameters(s.module(), s.on_gpu); }},
      {"gather_lanes", [](Subject& s) { engines::cuda::gather_lanes(s.module(), s.functions_on_gpu); }},
      {"check_bounds_of_functions_of_a_gpu",
       [](Subject& s) {
         for (const auto& function : s.functions_on_gpu) engines::cuda::check_bounds(function, s.kernel.info);
       }},
      {"lower_logging_of_a_gpu",
       [](Subject& s) { EXPECT_TRUE(engines::cuda::lower_logging(s.module(), s.functions_on_gpu)); }},
      {"lower_failures_of_a_gpu",
       [](Subject& s) {
         engines::cuda::Reports reports(s.functions_on_gpu);
         engines::cuda::lower_bounds_checks(s.module(), reports);
         engines::cuda::lower_traps(s.module(), reports);
         engines::cuda::limit_recursion(s.functions_on_gpu, reports);
       }},
      {"hoist_checks_of_a_gpu", [](Subject& s) { engines::cuda::hoist_checks(s.on_gpu, 8); }},
      {"order_copies",
       [](Subject& s) { engines::cuda::order_copies({.function = s.entry, .simdgroups_are_whole = true}); }},
      {"know_threads", [](Subject& s) { engines::cuda::know_threads(*s.entry, {256, 2, 1}); }},
      {"join_turns", [](Subject& s) { engines::cuda::join_turns({.function = s.entry}, 256); }},
      {"ring_tiles", [](Subject& s) { EXPECT_NE(engines::cuda::ring_tiles(*s.entry), 0U); }},
      {"copy_ahead", [](Subject& s) { engines::cuda::copy_ahead(*s.entry); }},
      {"read_ahead", [](Subject& s) { engines::cuda::read_ahead(*s.entry); }},
      {"address_in_bytes", [](Subject& s) { engines::cuda::address_in_bytes(s.module()); }},
      {"read_words",
       [](Subject& s) {
         const auto gpu = engines::cuda::make_machine(engines::cuda::Target::from("checked usual sm_90;ptx83"));
         engines::cuda::retarget(s.module(), *gpu);
         engines::cuda::read_words(s.module(), *gpu);
       }},
      {"many_rows", [](Subject& s) { EXPECT_TRUE(engines::cuda::goes_along_many_rows(s.module())); }},
      {"few_rows", [](Subject& s) { EXPECT_FALSE(engines::cuda::goes_along_many_rows(s.module())); }},
      {"optimise_for_gpus",
       [](Subject& s) {
         const auto gpu = engines::cuda::make_machine(engines::cuda::Target::from("checked usual sm_90;ptx83"));
         engines::cuda::retarget(s.module(), *gpu);
         engines::cuda::optimise(s.module(), *gpu);
       }},
      {"expand_copies", [](Subject& s) { engines::cuda::expand_copies(*s.entry); }},
      {"align_loops", [](Subject& s) { engines::cuda::align_loops(*s.entry); }},
      {"convert_exactly", [](Subject& s) { engines::cuda::convert_exactly(s.module()); }},
      {"forget_results",
       [](Subject& s) {
         engines::cuda::forget_results(s.module(), engines::cuda::Target::from("checked usual sm_90;ptx83"));
       }},
      {"align_accesses", [](Subject& s) { engines::cuda::align_accesses(*s.entry); }},
      {"lower_tiles", [](Subject& s) { engines::cuda::lower_tiles(s.module(), engines::cuda::LaneOrder::plain); }},
      {"unroll_arrays", [](Subject& s) { engines::cuda::unroll_arrays(*s.entry); }},
      {"unroll_loops", [](Subject& s) { engines::cuda::unroll_loops(s.module()); }},
      {"unroll_reading_loops",
       [](Subject& s) {
         const auto gpu = engines::cuda::make_machine(engines::cuda::Target::from("checked usual sm_90;ptx83"));
         engines::cuda::unroll_reading_loops(s.module(), *gpu);
       }},
      {"read_references", [](Subject& s) { engines::cuda::read_references(s.on_gpu, s.kernel.info); }},
      {"lower_bounds_checks_of_a_gpu",
       [](Subject& s) {
         engines::cuda::Reports reports(s.on_gpu);
         engines::cuda::lower_bounds_checks(s.module(), reports);
       }},
      {"stop_loops", [](Subject& s) { EXPECT_TRUE(engines::cuda::stop_loops(s.on_gpu)); }},
      {"quick_math", [](Subject& s) { engines::cuda::quick_math(s.module()); }},
      {"round_bfloats", [](Subject& s) { engines::cuda::round_bfloats(s.module()); }},
      {"multiply_floats",
       [](Subject& s) { engines::cuda::multiply_floats(s.module(), engines::cuda::LaneOrder::plain); }},
      {"join_products", [](Subject& s) { engines::cuda::join_products(s.module()); }},
      {"load_fragments", [](Subject& s) { engines::cuda::load_fragments(s.module()); }},
      {"lower_bounds_checks", [](Subject& s) { cpu::lower_bounds_checks(s.module(), s.lowered); }},
      {"lower_logging", [](Subject& s) { cpu::lower_logging(s.module(), *s.entry); }},
      {"lower_meetings", [](Subject& s) { reference::lower_meetings(s.module(), *s.entry); }},
      {"lower_private_memory", [](Subject& s) { cpu::lower_private_memory(s.module(), *s.entry, true); }},
      {"lower_large_private_memory", [](Subject& s) { cpu::lower_private_memory(s.module(), *s.entry, false); }},
      {"split_at_meetings", [](Subject& s) { reference::split_at_meetings(s.module(), *s.entry, *machine); }},
      {"read_before_writing", [](Subject& s) { simd::read_before_writing(*s.entry, s.kernel.info); }},
      {"join_accesses", [](Subject& s) { simd::join_accesses(*s.entry); }},
      {"optimise_lane", [](Subject& s) { simd::optimise_lane(*s.entry); }},
      {"limit_unrolling", [](Subject& s) { simd::limit_unrolling(*s.entry, {.any = 200, .with_places = 400}); }},
      {"choose_width",
       [](Subject& s) {
         simd::choose_width({s.entry}, s.kernel.info, /*threads_meet=*/false, /*register_bits=*/512,
                            {.of_64_bits = 6, .long_of_64_bits = 40, .of_any = 30});
       }},
      {"choose_width_of_short_registers",
       [](Subject& s) {
         simd::choose_width({s.entry}, s.kernel.info, /*threads_meet=*/false, /*register_bits=*/256,
                            {.of_any = 10, .long_of_any = 12});
       }},
      {"choose_width_of_long_registers",
       [](Subject& s) {
         simd::choose_width({s.entry}, s.kernel.info, /*threads_meet=*/false, /*register_bits=*/512,
                            {.of_any = 20, .long_of_any = 24});
       }},
      {"drop_repeated", [](Subject& s) { cpu::drop_repeated(*s.entry, 3); }},
      {"drop_repeated_in_small", [](Subject& s) { cpu::drop_repeated(*s.entry, 1000); }},
      {"promote_short_variables", [](Subject& s) { ir::promote_short_variables(*s.entry); }},
      {"split_long_blocks", [](Subject& s) { ir::split_long_blocks(*s.entry, 8, 3); }},
      {"split_copies", [](Subject& s) { simd::split_copies(*s.entry); }},
      {"interleave_variables", [](Subject& s) { simd::interleave_variables(*s.entry); }},
      {"hand_on_structures", [](Subject& s) { simd::hand_on_structures(s.module(), *s.entry); }},
      {"pass_first_thread", [](Subject& s) { simd::pass_first_thread(s.module(), *s.entry); }},
      {"place_lanes",
       [](Subject& s) {
         s.entry = &simd::copy_for_rows(*s.entry);
         simd::place_lanes(*s.entry, simd::Arrangement::row);
       }},
      {"place_lanes_in_half_rows", [](Subject& s) { simd::place_lanes(*s.entry, simd::Arrangement::half_rows); }},
      {"place_lanes_in_a_column", [](Subject& s) { simd::place_lanes(*s.entry, simd::Arrangement::column); }},
      {"place_lanes_anywhere", [](Subject& s) { simd::place_lanes(*s.entry, simd::Arrangement::anywhere); }},
      {"place_lanes_alone", [](Subject& s) { simd::place_lanes(*s.entry, simd::Arrangement::alone); }},
      {"fetch_ahead", [](Subject& s) { simd::fetch_ahead(*s.entry); }},
      {"share_accesses",
       [](Subject& s) {
         simd::share_accesses(*s.entry, 0);
         simd::share_accesses(*s.entry, 0);  // for the next arrangement of the lanes: functions stay what they are
       }},
      {"share_accesses_of_few", [](Subject& s) { simd::share_accesses(*s.entry); }},
      {"split_off_whole_turns", [](Subject& s) { simd::split_off_whole_turns(*s.entry); }},
      {"follow_rows", [](Subject& s) { simd::follow_rows(*s.entry); }},
      {"pair_simdgroups",
       [](Subject& s) {
         if (llvm::Function* pair = simd::pair_simdgroups(*s.entry)) s.entry = pair;
       }},
      {"simplify_control_flow", [](Subject& s) { simd::simplify_control_flow(*s.entry); }},
      {"step_by_8", [](Subject& s) { simd::set_step_width(*s.entry, 8); }},
      {"widen", [](Subject& s) { widen(s, true); }},
      {"widen_some", [](Subject& s) { widen(s, false); }},
      {"run_simdgroups", [](Subject& s) { simd::run_simdgroups(s.module(), simdgroups_of(s.module()), false); }},
      {"run_simdgroups_of_16",
       [](Subject& s) { simd::run_simdgroups(s.module(), simdgroups_of(s.module(), 16), false); }},
      {"run_simdgroups_that_stop",
       [](Subject& s) { simd::run_simdgroups(s.module(), simdgroups_of(s.module()), true); }},
      {"carry_over_barriers", [](Subject& s) { simd::carry_over_barriers(*s.entry); }},
      {"split_at_barriers", [](Subject& s) { simd::split_at_barriers(s.module(), *s.entry, *machine); }},
      {"split_at_barriers_once", [](Subject& s) { simd::split_at_barriers(s.module(), *s.entry, *machine, 0); }},
      {"keep_matrix_orders", [](Subject& s) { simd::keep_matrix_orders(s.module()); }},
      {"optimise_vectors", [](Subject& s) { simd::optimise_vectors(s.module(), *machine); }},
      {"lower_products", [](Subject& s) { simd::lower_products(s.module(), *cpu::make_machine("znver4", "")); }},
      {"lower_vector_math", [](Subject& s) { engines::simd::lower_vector_math(s.module(), *machine); }},
      {"lower_math",
       [](Subject& s) {
         const ir::math::MathHardware hardware = {
             .fused_multiply_add = true, .scaling = false, .rounding = true, .half = true};
         ir::math::lower_math(s.module(), hardware, ir::math::MathForms::vectors_and_scalars);
       }},
      {"stream_stores",
       [](Subject& s) {
         for (llvm::Function& function : s.module()) {
           if (!function.empty()) simd::stream_stores(function);
         }
       }},
      {"run_threadgroups", [](Subject& s) { simd::run_threadgroups(*s.entry); }},
      {"stream_stores_of_forms",
       [](Subject& s) {
         std::vector<const llvm::Function*> all;
         for (llvm::Function& function : s.module()) all.push_back(&function);
         simd::stream_stores(*s.entry, all);
       }},
      {"convert_by_table",
       [](Subject& s) { simd::convert_by_table(s.module(), *cpu::make_machine("skylake-avx512", "")); }},
      {"convert_without_table",
       [](Subject& s) { simd::convert_by_table(s.module(), *cpu::make_machine("haswell", "")); }},
      {"call_missing_accesses",
       [](Subject& s) { simd::call_missing_accesses(s.module(), *cpu::make_machine("znver3", ""), 24); }},
      {"call_missing_accesses_of_few",
       [](Subject& s) { simd::call_missing_accesses(s.module(), *cpu::make_machine("znver3", ""), 100); }},
      {"call_missing_accesses_with",
       [](Subject& s) { simd::call_missing_accesses(s.module(), *cpu::make_machine("skylake-avx512", ""), 24); }},
      {"permute_loads", [](Subject& s) { simd::permute_loads(s.module(), *cpu::make_machine("skylake-avx512", "")); }},
      {"permute_loads_without", [](Subject& s) { simd::permute_loads(s.module(), *cpu::make_machine("haswell", "")); }},
      {"shift_out_elements", [](Subject& s) { simd::shift_out_elements(s.module(), *cpu::make_machine("znver3", "")); }},
      {"shift_out_elements_with",
       [](Subject& s) { simd::shift_out_elements(s.module(), *cpu::make_machine("skylake-avx512", "")); }},
      {"count_together", [](Subject& s) { simd::count_together(s.module(), *cpu::make_machine("znver4", "")); }},
      {"count_together_elsewhere",
       [](Subject& s) { simd::count_together(s.module(), *cpu::make_machine("sapphirerapids", "")); }},
      {"keep_constants_apart", [](Subject& s) { simd::keep_constants_apart(s.module()); }},
      {"join_threads",
       [](Subject& s) {
         namespace cuda = engines::cuda;
         cuda::Entry entry = cuda::lower_arguments(s.module(), s.kernel.info, cuda::ArgumentAlignment::of_their_types,
                                                   cuda::Placement::in_grid);
         cuda::check_bounds(entry, s.kernel.info);
         cuda::join_threads(entry);
         s.entry = entry.function;
       }},
      {"keep_loads_apart", [](Subject& s) { simd::keep_loads_apart(s.module()); }},
      {"shorten_calls", [](Subject& s) { simd::shorten_calls(s.module()); }},
      {"hold_vectors", [](Subject& s) { simd::hold_vectors(s.module()); }},
      {"check_frames", [](Subject& s) { ir::check_frames(s.module(), s.kernel.info.name, 4096); }},
  };
  return list;
}

struct PassRun {
  std::string prefix;
  std::vector<std::string> passes;
  std::string error_code = {}, error_text = {};
};

struct TestFile {
  std::string text;
  std::vector<PassRun> runs;
  KernelInfo kernel;
  LibraryInfo library;
  FunctionConstants constants;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TypeInfo type_of(const char* name, ElementType scalar) {
  TypeInfo type;
  type.name = name;
  type.scalar = scalar;
  type.size = size_of(scalar);
  return type;
}

ArgumentInfo argument_of(const std::string& kind, std::size_t number) {
  ArgumentInfo argument;
  argument.name = "argument" + std::to_string(number);
  argument.index = static_cast<std::uint32_t>(number);
  if (kind == "buffer") return argument;
  if (kind == "reference") {
    argument.address_space = AddressSpace::constant;
    argument.access = Access::read;
    argument.is_reference = true;
    argument.type = type_of("uint2", ElementType::uint32);
    argument.type.size = 8;
  } else if (kind == "threadgroup") {
    argument.kind = ArgumentKind::threadgroup_memory;
  } else if (kind == "texture") {
    argument.kind = ArgumentKind::texture;
  } else {
    argument.kind = ArgumentKind::builtin;
    for (int i = 1; name_of(argument.builtin) != kind; ++i) {
      if (i > static_cast<int>(Builtin::thread_index_in_grid)) throw std::invalid_argument("no argument: " + kind);
      argument.builtin = static_cast<Builtin>(i);
    }
    argument.type = type_of("uint", ElementType::uint32);
  }
  return argument;
}

TestFile read(const std::filesystem::path& path) {
  TestFile file;
  file.kernel.name = file.kernel.symbol = "kernel";
  file.kernel.source_file = path.filename().string();
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line); file.text += line + "\n") {
    const auto colon = line.find(": ");
    if (!line.starts_with("; ") || colon == std::string::npos) continue;
    std::string before = line.substr(2, colon - 2);
    std::ranges::replace_if(before, [](char c) { return c == '(' || c == ')'; }, ' ');
    const std::vector<std::string> head = words_of(before), words = words_of(line.substr(colon + 2));
    if (head.empty()) continue;
    if (head[0] == "RUN") {
      file.runs.push_back({.prefix = head.size() > 1 ? head[1] : "CHECK", .passes = words});
    } else if (head[0] == "ERROR") {
      file.runs.back().error_code = head.at(1);
      file.runs.back().error_text = line.substr(colon + 2);
    } else if (head[0] == "ARGUMENT") {
      file.kernel.arguments.push_back(argument_of(words.at(0), file.kernel.arguments.size()));
    } else if (head[0] == "CONSTANT") {
      const auto index = static_cast<std::uint32_t>(file.library.function_constants.size());
      file.library.function_constants.push_back({words.at(0), index, type_of("int", ElementType::int32), words[0]});
      if (words.size() > 1) file.constants.set(words[0], std::int64_t{std::stoll(words[1])});
    }
  }
  return file;
}

std::string transform(const TestFile& file, const PassRun& run) {
  return ir::print_transformed(file.text, file.kernel, [&](ir::KernelModule& kernel, llvm::Function& function) {
    LibraryInfo library = file.library;
    Subject subject{kernel, &function, library, file.constants};
    for (const std::string& pass : run.passes) passes().at(pass)(subject);
  });
}

// What FileCheck has to say; nothing if the code fits.
std::string check(const std::filesystem::path& patterns, const PassRun& run, const std::string& code) {
  const std::filesystem::path output = testing::TempDir() + patterns.stem().string() + "." + run.prefix + ".ll";
  std::ofstream(output) << code;
  const std::string command =
      fmt::format("'{}' '{}' --input-file='{}' --check-prefix={} --allow-unused-prefixes=false 2>&1",
                  METALLOID_FILE_CHECK, patterns.string(), output.string(), run.prefix);
  std::string said;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "cannot start " + command;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof(part), pipe)) > 0;) said.append(part, n);
  if (pclose(pipe) == 0) return "";
  return said + "\n" + code;
}

const std::filesystem::path folder = METALLOID_TESTS_FOLDER "/ir";

std::vector<std::filesystem::path> all_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".ll") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

class PassFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PassFile, BecomesWhatItSays) {
  const TestFile file = read(GetParam());
  ASSERT_FALSE(file.runs.empty()) << "no '; RUN:' line";
  for (const PassRun& run : file.runs) {
    SCOPED_TRACE(run.prefix);
    try {
      const std::string code = transform(file, run);
      EXPECT_EQ(run.error_code, "") << "no error\n" << code;
      if (run.error_code.empty()) {
        EXPECT_EQ(check(GetParam(), run, code), "");
      }
    } catch (const Error& error) {
      EXPECT_EQ(name_of(error.code()), run.error_code) << error.what();
      EXPECT_NE(std::string(error.what()).find(run.error_text), std::string::npos) << error.what();
    }
  }
}

std::string name_of_file(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Ir, PassFile, testing::ValuesIn(all_files()), name_of_file);

TEST(PassFiles, ThereIsOneForEveryPass) {
  std::set<std::string> tested;
  for (const std::filesystem::path& path : all_files()) {
    for (const PassRun& run : read(path).runs) tested.insert(run.passes.begin(), run.passes.end());
  }
  for (const auto& [name, pass] : passes()) EXPECT_TRUE(tested.contains(name)) << name;
}

}  // namespace passes_test
}  // namespace metalloid
