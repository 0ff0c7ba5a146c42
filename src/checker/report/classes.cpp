// Names and words of classes and severities.
#include "checker/report/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "metalloid/error.h"
#include "support/nearest_names.h"

namespace metalloid {
namespace {

struct ClassInfo {
  std::string_view name, description, help;
};

// By value.
constexpr std::array<ClassInfo, check_class_count> classes = {{
    {"out-of-bounds", "an access outside of the argument or variable that its address comes from",
     "A kernel reads or writes before the beginning or behind the end of an argument, or of an array in threadgroup or "
     "thread memory. On a GPU this reads garbage, overwrites what lies beside it, or ends the command buffer. Compare "
     "the index with the number of elements before the access, or launch fewer threads."},
    {"misaligned", "an address that is no multiple of what its type wants",
     "An address is no multiple of the alignment of the type that is read or written there. Metal leaves the result "
     "undefined. Bind the buffer at an aligned offset, or use a packed type such as packed_float3."},
    {"read-only", "a write to a constant or const argument",
     "A kernel writes to memory that is bound for reading: an argument in the address space constant, or a pointer to "
     "const whose const was cast away. Declare the argument without const, in the address space device."},
    {"threadgroup-race",
     "two threads use one address of threadgroup memory, one of them writes, and no barrier is between",
     "Two threads of a threadgroup use the same threadgroup memory, at least one of them writes, and no barrier orders "
     "them. Which of them comes first differs from run to run. Put threadgroup_barrier(mem_flags::mem_threadgroup) "
     "between the two, or use an atomic operation."},
    {"device-race", "two threads use one address of device memory, one of them writes, and nothing orders them",
     "Two threads use the same device memory, at least one of them writes, and nothing orders them. Inside of one "
     "threadgroup a threadgroup_barrier(mem_flags::mem_device) does; threadgroups have no order at all, so that two of "
     "them need atomic operations or two dispatches."},
    {"missing-fence", "a race although the threads met: the barrier's flags do not name that memory",
     "Two threads meet at a barrier between their accesses, but its mem_flags do not name the memory that both use, so "
     "that a write may not be visible behind it. Name it: mem_flags::mem_threadgroup, mem_flags::mem_device, or both."},
    {"lockstep", "a race of lanes of one simdgroup, which only shows where they do not run in step",
     "Two lanes of one simdgroup use the same memory, at least one of them writes, and nothing but the habit that "
     "lanes "
     "run in step orders them. Metal does not promise that they do. Put simdgroup_barrier with the memory's flag "
     "between the two."},
    {"uninitialised", "a read of what nobody wrote",
     "A kernel reads threadgroup memory, a variable, or a buffer with undefined contents where no thread has written. "
     "The value differs from run to run and from GPU to GPU. Write it first, and let a barrier stand between."},
    {"barrier-divergence", "a barrier to which not all threads come",
     "Some threads of a threadgroup or simdgroup wait at a barrier to which others never come. On a GPU this hangs or "
     "lets the barrier order nothing. Move the barrier out of the branch or loop, and let no thread return before it."},
    {"divergent-operation", "a simdgroup or matrix operation that not all lanes of the simdgroup take part in",
     "An operation of the whole simdgroup, such as a product of simdgroup matrices, is carried out by some of its "
     "lanes "
     "only. Its result is undefined. Move it out of the branch."},
    {"inactive-lane", "a value taken from a lane that gives none",
     "A lane takes a value from a lane that does not take part in the operation, or that does not exist, as with "
     "simd_shuffle. The value is undefined. Let all lanes reach the operation, or take from lanes that do."},
    {"non-uniform", "an operand that all lanes must share, and do not",
     "Lanes give different values for an operand that Metal wants to be the same in all of them, such as the lane of "
     "simd_broadcast or the address of a simdgroup matrix. The result is undefined. Compute it from what is the same "
     "in "
     "the whole simdgroup."},
    {"division-by-zero", "a division of integers by zero",
     "An integer is divided by zero, or a remainder of that taken. Metal leaves the result undefined. Look at the "
     "divisor "
     "first."},
    {"overlapping-arguments", "memory that is bound twice and written",
     "The memory of two arguments overlaps and the kernel may write through one of them. The compiler may assume that "
     "they are apart, and threads that use one through the other race. Bind memory that does not overlap."},
    {"argument-width", "bytes or elements of another size than the kernel's type",
     "The bytes or elements that the host binds have another width or format than the type of the kernel's argument: "
     "the "
     "kernel then reads a part of a number, or two numbers as one. Convert them on the host, or change the argument's "
     "type."},
    {"not-finite", "an operation on finite numbers gave NaN or infinity",
     "An operation whose operands are all finite gave NaN or infinity: a division by zero, an overflow, a root or "
     "logarithm of a negative number. This is where those of the result come from."},
    {"endless-loop", "the dispatch did not end in its time",
     "The dispatch was stopped because its time was over: a loop never ends, or threads wait for others that cannot go "
     "on. If it is only slow, give it more time."},
}};

const ClassInfo& info_of(CheckClass kind) { return classes.at(static_cast<std::size_t>(kind)); }

}  // namespace

std::string_view name_of(CheckClass kind) { return info_of(kind).name; }

std::string_view description_of(CheckClass kind) { return info_of(kind).description; }

std::vector<CheckClass> check_classes_named(std::string_view name) {
  const auto& all = checker::all_classes();
  if (name == "all") return {all.begin(), all.end()};
  if (name == "race") {
    return {CheckClass::threadgroup_race, CheckClass::device_race, CheckClass::missing_fence, CheckClass::lockstep};
  }
  for (const CheckClass kind : all) {
    if (name_of(kind) == name) return {kind};
  }
  std::vector<std::string> names = {"race", "all"};
  for (const CheckClass kind : all) names.emplace_back(name_of(kind));
  const std::string_view shown = name.substr(0, 100);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("no class of findings is named '{}{}'; {}", shown, shown == name ? "" : "...",
                          support::nearest_names(shown, names)));
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "error";
}

bool counts(std::span<const Finding> findings) {
  return std::ranges::any_of(findings, [](const Finding& finding) { return finding.severity != Severity::note; });
}

namespace checker {

const std::array<CheckClass, check_class_count>& all_classes() {
  static constexpr auto all = [] {
    std::array<CheckClass, check_class_count> result{};
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<CheckClass>(i);
    return result;
  }();
  return all;
}

std::string_view help_of(CheckClass kind) { return info_of(kind).help; }

}  // namespace checker
}  // namespace metalloid
