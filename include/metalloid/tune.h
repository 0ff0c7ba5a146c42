// tune: picks the threadgroup size of a dispatch by measurement, and remembers it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metalloid/dispatch.h"

namespace metalloid {

// What the host knows of an argument's memory beyond its size. Part of the key that results are cached under.
struct ArgumentContents {
  ElementType elements = ElementType::none;  // none: what the kernel's declaration says
  std::vector<std::int64_t> shape{};
};

struct ReachedMemory {
  Buffer buffer;
  ElementType elements = ElementType::none;
};

struct TuneOptions {
  // Threadgroup sizes to try. Empty: powers of two from 32 to what the kernel allows, and for grids in threads of two
  // or three dimensions some blocks too. The first of a list is the default, unless the dispatch has one.
  std::vector<Size> candidates{};
  // The default stays unless another size takes less than 1 / (1 + margin) of its time.
  double margin = 0.1;
  // How long measuring should take, after one run of each size; at least 3 rounds are made (one, if it
  // takes longer than that) and at most 100.
  std::chrono::duration<double> budget = std::chrono::seconds(1);
  std::optional<std::uint32_t> rounds{};  // exactly so many instead
  // Sizes whose results differ from the default's are never chosen. Two floating-point elements are the same if they
  // differ by no more than `tolerance` times the larger of the element and the array's root mean square; integers
  // and bytes must be equal. Unset: 1e-4 for float, 1e-2 for half, 5e-2 for bfloat.
  bool compare = true;
  std::optional<double> tolerance{};
  bool force = false;  // measure even if the answer is cached
  // Bytes per thread for threadgroup(n) arguments whose length follows the threadgroup size.
  std::map<std::uint32_t, std::size_t> threadgroup_memory_per_thread{};
  std::map<std::uint32_t, ArgumentContents> contents{};  // by buffer index
  // Memory that the kernel reaches through addresses stored in other arguments. It is written during the runs and put
  // back before each of them and at the end.
  std::vector<ReachedMemory> reached{};
};

// One threadgroup size and what became of it.
struct TuneTrial {
  enum class Outcome : std::uint8_t { measured, different_results, failed };

  Size group{};
  Outcome outcome = Outcome::measured;
  double seconds = 0;      // median; 0 if it failed
  double spread = 0;       // half of the interquartile range, as a part of the median
  std::uint32_t runs = 0;  // that were timed
  std::string note{};      // why it failed, how its results differ
};

struct TuneResult {
  std::string kernel{}, device{};
  Size grid{};
  bool grid_counts_threads = true;        // else threadgroups
  std::vector<TuneTrial> trials{};        // in the order of the candidates
  std::size_t chosen = 0;                 // index into trials
  std::optional<std::size_t> standard{};  // the default's index
  double margin = 0;
  bool compared = true;       // results, or only times
  bool results_vary = false;  // from run to run of one size, so they were not compared
  bool from_cache = false;

  Size best() const { return trials[chosen].group; }
  // What was tried, a line per size, and the choice with its reason. Ends in a newline.
  std::string table() const;
  // The choice with its reason, one line without its end.
  std::string summary() const;
};

// Runs the kernel with every candidate and returns the best, or what an earlier call found for the same device,
// kernel, argument sizes, integer and struct values, grid and options ($METALLOID_CACHE_DIR, as for kernels).
//
// The dispatch's threadgroup size is the default: the one to beat, and the one whose results are right. {0, 0, 0}
// means none; then grids in threads have the longest row of threads as the one to beat, and if results differ between
// sizes nothing is chosen.
//
// The dispatch's grid stays as it is, so a grid in threads keeps its threads (a thread per element) and a grid in
// threadgroups its threadgroups (a threadgroup per row). Every run starts from the same inputs and works on copies:
// the dispatch's own memory is not written. Sizes that fail (too large, too much threadgroup memory, a crash, a
// timeout, writes outside the arguments) are recorded and not chosen.
//
// Throws invalid_argument if the results depend on the size and there is no default, and if every size fails an
// Error with the code of the first failure that gives all reasons.
TuneResult tune(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options = {});

// What the last tuning of the same device, kernel, arguments and grid found, whatever its other options were, if it
// compared results. Of `options`, what describes arguments and threadgroup memory counts.
std::optional<TuneResult> last_tuning(const Kernel& kernel, const Dispatch& dispatch, const TuneOptions& options = {});

// The sizes that are tried if none are given.
std::vector<Size> default_group_sizes(const Kernel& kernel, Size grid, bool grid_counts_threads);

// "32", "8x8", "4x4x4".
std::string to_string(Size size);

// Results on disk.
struct CachedTuning {
  TuneResult result;
  std::string arguments;      // "f32[1024], 4 bytes, i32 1024"
  std::string when;           // UTC, ISO 8601
  bool of_this_build = true;  // tune() does not use those of other builds of Metalloid
};
std::vector<CachedTuning> cached_tunings();  // newest first
std::size_t clear_cached_tunings();          // how many there were

}  // namespace metalloid
