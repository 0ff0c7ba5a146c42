// The checker: kernels run as always while each of their accesses and meetings is watched, and what is wrong with them
// is reported. Docs: docs/checker.md.
//
//   CheckSession session({.strict = true});
//   run(kernel, dispatch);                      // any kernel of any device of the host, made before or now
//   for (const Finding& finding : session.findings()) std::cerr << text_of(finding);
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metalloid/dispatch.h"

namespace metalloid {

// What can be wrong with a kernel. Each has a name (name_of), which switches, suppressions and reports use.
enum class CheckClass : std::uint8_t {
  out_of_bounds,          // an access outside of the argument or variable that its address comes from
  misaligned,             // an address that is no multiple of what its type wants
  read_only,              // a write to a constant or const argument
  threadgroup_race,       // two threads, one address of threadgroup memory, a write, and no barrier between
  device_race,            // the same in device memory, in one threadgroup or in two
  missing_fence,          // a race although the threads met: the barrier's flags do not name that memory
  lockstep,               // a race of lanes of one simdgroup, that only shows where they do not run in step
  uninitialised,          // a read of what nobody wrote
  barrier_divergence,     // a barrier to which not all threads come
  divergent_operation,    // a simdgroup or matrix operation that not all lanes of the simdgroup take part in
  inactive_lane,          // a value taken from a lane that gives none
  non_uniform,            // an operand that all lanes must share, and do not
  division_by_zero,       // of integers
  overlapping_arguments,  // memory that is bound twice and written
  argument_width,         // bytes or elements of another size than the kernel's type
  not_finite,             // an operation on finite numbers gave NaN or infinity; off unless asked for
  endless_loop,           // the dispatch's time was over
};
inline constexpr std::size_t check_class_count = 17;

// "out-of-bounds", "threadgroup-race", ...
std::string_view name_of(CheckClass kind);
// One line for people.
std::string_view description_of(CheckClass kind);
// By name. "race" are threadgroup-race, device-race, missing-fence and lockstep, "all" are all; else
// throws invalid_argument naming the nearest ones.
std::vector<CheckClass> check_classes_named(std::string_view name);

// Notes do not count: a run with nothing else is silent to scripts.
enum class Severity : std::uint8_t { note, warning, error };
std::string_view name_of(Severity severity);  // "note", "warning", "error"

// A line of the source, and the calls that led into it, the innermost first. What stands in a macro's body is in a call
// from where the macro is expanded.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0, column = 0;  // from 1; 0: unknown
  std::string text;                    // the line; empty if it is not known
  std::vector<SourcePlace> called_from;
  std::string macro;  // the name of the one whose body has it; empty: none
};

struct ThreadPlace {
  Size position_in_grid, threadgroup, position_in_threadgroup;
  std::uint32_t simdgroup = 0, lane = 0;
};

// What one thread did.
struct FindingStep {
  std::string action;  // "writes", "reads", "waits here", ...
  SourcePlace place;
  std::optional<ThreadPlace> thread;
  std::string value;  // empty if it is not known
};

struct Finding {
  CheckClass kind{};
  Severity severity = Severity::error;
  std::string kernel;
  std::string launch;                 // who launched it, where the host says so: Dispatch::label()
  std::string message;                // one sentence: what is wrong, naming argument, element and threads
  std::string fix;                    // what would mend it, where that is plain; else empty
  std::string memory;                 // name of the argument or variable; empty: none
  std::optional<std::int64_t> index;  // buffer(index) or threadgroup(index) of an argument
  std::optional<std::int64_t> byte_offset, element;  // where in it
  std::vector<FindingStep> steps;  // one, or the two that do not go together; the one that found out last
  std::uint64_t count = 1;         // how often: one finding for a pair of places
};

struct CheckOptions {
  // Classes to look for: all but not_finite.
  std::bitset<check_class_count> classes =
      std::bitset<check_class_count>().set().reset(static_cast<std::size_t>(CheckClass::not_finite));
  // Threads that have returned count at barriers, as the specification says; on Apple silicon they do not.
  bool strict = false;
  // Permutes the order of threads, simdgroups and threadgroups; 0: as they are numbered.
  std::uint64_t schedule = 0;
  // More findings are counted only.
  std::size_t most_findings = 100;
  // "CLASS", "CLASS:FILE", "CLASS:FILE:LINE", "*:FILE"; FILE by its last parts, with * and ?. They speak of each place
  // of a finding, and of the calls that led there.
  std::vector<std::string> suppressions;
  // Comments in a source: `// metalloid: allow race` on a finding's line, or alone on the line above it.
  bool comments_suppress = true;
};

// While one exists, every dispatch of the process is checked. What is found goes to the one that was begun last: one
// inside of another takes over until it ends.
class CheckSession {
 public:
  explicit CheckSession(CheckOptions options = {});
  ~CheckSession();
  CheckSession(const CheckSession&) = delete;
  CheckSession& operator=(const CheckSession&) = delete;

  // In the order in which they were found: the same in every run.
  std::vector<Finding> findings() const;
  std::vector<Finding> take_findings();  // and forgets them
  std::uint64_t lost() const;            // how many findings were above most_findings
  std::uint64_t suppressed() const;      // how many were left out
  std::uint64_t dispatches() const;      // that were checked
  // Of these, the ones that were run lane by lane. All others were shown to be well while simdgroups ran in step, which
  // takes a fraction of the time.
  std::uint64_t examined() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

bool is_checking();

// Reports.
std::string text_of(const Finding& finding, bool colour = false);  // as compilers write errors, with carets
std::string json_of(std::span<const Finding> findings);            // docs/checker.md has the schema
std::string sarif_of(std::span<const Finding> findings);           // SARIF 2.1.0

// Whether any counts: not a note.
bool counts(std::span<const Finding> findings);

// The suppressions of a file, one a line; # begins a comment. Throws input_output.
std::vector<std::string> read_suppressions(const std::filesystem::path& file);

}  // namespace metalloid
