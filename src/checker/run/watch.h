// A dispatch that is checked, while it runs: what generated code says of its accesses and meetings comes here.
//
// One thread of the host runs all of it, so that reports are the same in every run. Nothing here may throw where code
// of a kernel is on the stack: what does not fit is counted.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "checker/code/operations.h"
#include "checker/run/clock.h"
#include "checker/run/races.h"
#include "checker/run/shadow.h"
#include "checker/session.h"
#include "metalloid/dispatch.h"
#include "metalloid/reflection.h"

namespace metalloid::ir {
enum class CrossLane;
}

namespace metalloid::checker {

// What the host bound to an argument of the kernel.
struct WatchedArgument {
  std::byte* address = nullptr;  // null: nothing that an address may come from
  std::size_t bytes = 0;
  std::size_t offset = 0;     // from where the owner's memory begins: what is in front may be used, too
  bool is_undefined = false;  // nobody wrote it before the dispatch
};

// Metal's buffers begin at pages, and the host's memory wherever its allocator puts it, which is a multiple of this. So
// of addresses less is asked, and the rest of where an access lies in its owner's memory.
inline constexpr std::uintptr_t host_alignment = 16;
inline bool is_aligned(const WatchedArgument& argument, std::uint64_t offset, std::uintptr_t alignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(argument.address) + offset;
  return (address & (std::min(alignment, host_alignment) - 1)) == 0 &&
         ((argument.offset + offset) & (alignment - 1)) == 0;
}

struct WatchedGrid {
  Size threads_per_grid, threadgroups_per_grid, threads_per_threadgroup;
};

class Watch {
 public:
  // `launch`: who launched it, for what is found.
  Watch(std::shared_ptr<CheckSession::State> session, const KernelInfo& kernel, std::vector<WatchedArgument> arguments,
        const WatchedGrid& grid, SourceLines& lines, std::string launch = {});
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The table that resolve.h made.
  void set_roots(const NamedRoot* roots);
  // The threadgroup, and of `count` threads or simdgroups the one, that comes at that place: as they are numbered,
  // unless the session has a schedule.
  std::uint64_t threadgroup_at(std::uint64_t place) const {
    return permuted(place, grid_.threadgroups_per_grid.volume(), 0);
  }
  std::uint64_t permuted(std::uint64_t place, std::uint64_t count, std::uint64_t round) const;

  // `arguments` as ThreadgroupState has them. `memory` is all of the threadgroup's.
  void begin_threadgroup(std::uint64_t index, std::span<std::byte> memory, void* const* arguments);

  // From generated code. `thread` is the index in the threadgroup. What is nothing new and nothing wrong needs no more
  // than this question, which touches nothing that a stop could tear.
  bool is_plainly_fine(const void* address, const void* base, std::uint64_t size, std::uint32_t root,
                       std::uint64_t bytes, std::uint32_t flags, std::uint32_t thread) const {
    const Cells* cells = &local_;
    std::uint64_t front = 0;
    if (root < quick_.size()) {
      const Quick& argument = quick_[root];
      size = argument.bytes;
      front = argument.front;
      cells = argument.cells;
      if ((flags & access_writes) != 0 && !argument.is_writable) return false;
    } else if (root < first_threadgroup_root || root >= first_constant_root) {
      return false;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::uint64_t offset = at - reinterpret_cast<std::uintptr_t>(base) + front;
    if (bytes > size || offset > size - bytes) return false;
    const std::uint64_t place = (root < quick_.size() ? at : offset) - bytes_behind(flags);
    if ((place & ((std::uintptr_t{1} << alignment_of(flags)) - 1)) != 0) return false;
    if (!cells) return true;
    if ((flags & (access_writes | access_atomic)) != 0) return false;
    const unsigned first = at % granule, simdgroup = thread / 32;
    if (first + bytes <= granule) {
      return cells->at(at).is_shared(period_, ((1u << bytes) - 1) << first, simdgroup);
    }
    if (first != 0 || bytes != 2 * granule) return false;
    return cells->at(at).is_shared(period_, 0xff, simdgroup) &&
           cells->at(at + granule).is_shared(period_, 0xff, simdgroup);
  }
  void* access(void* address, void* base, std::uint64_t size, std::uint32_t root, std::uint64_t bytes,
               std::uint64_t value, std::uint32_t flags, std::uint32_t thread, const Site* site);
  void fail(CheckClass kind, const char* name, std::uint32_t thread, const Site* site);
  void meet(MeetingStep step, std::uint32_t what, std::uint32_t operand, std::uint32_t thread, const Site* site);
  void end(std::uint32_t thread);

  // The dispatch's time was over while this place was being run.
  void time_out(const std::string& place);

  // Hands over what was found.
  void finish();

 private:
  struct Access;  // one, taken apart
  // A write that races with an earlier one, in one cell.
  struct TwoWrites {
    Race race;
    const std::byte* address;                      // of the cell's first byte that the later one writes
    std::uint8_t bytes;                            // from there, a bit for each that both write
    std::array<std::byte, granule> before, after;  // what lies there
  };
  struct Simdgroup {
    std::uint32_t exists = 0, ended = 0;
    std::array<const Site*, 32> sites{};  // of the operation that a lane came to
    std::array<std::uint32_t, 32> operands{}, whats{};
    std::uint32_t came = 0;
  };

  using Key = std::tuple<CheckClass, std::uint32_t, std::uint32_t, std::uint32_t>;

  bool looks_for(CheckClass kind) const { return session_->looks_for(kind); }
  // False if it was found before, and is counted.
  bool is_new(CheckClass kind, std::uint32_t a, std::uint32_t b, std::uint32_t root);
  void add(Finding finding);
  // Of a pair of places only the gravest kind of race is told.
  void add_race(const Access& access, const Race& race, CheckClass kind, bool same_value);

  void* leads_outside(const Access& access);
  void check_written(const Access& access);
  // Atomic operations do not race, but one that reads may come before another thread's store of the first value.
  void check_first_stores(const Access& access, bool is_first);
  // Reads of what was not written yet may be the other half of a race: then the race is told, and not they.
  void forget_unwritten(const Access& access);
  void tell_unwritten();
  void drop_lesser_races();
  void check_races(const Access& access);
  // What a write writes lies in memory when the kernel comes here the next time: then it is compared with what lay
  // there. Unless it was not carried out.
  void settle(bool is_written) {
    if (!two_writes_.empty()) [[unlikely]]
      settle_writes(is_written);
  }
  void settle_writes(bool is_written);
  void judge_writes(const Access& access);
  void report_race(const Access& access, const Race& race, bool same_value);
  void report_misaligned(const Access& access, std::uintptr_t alignment);
  void report_read_only(const Access& access);
  Cell& cell_of(const Access& access, std::uintptr_t address);
  void lay_out_shadow();
  bool find_root(Access& access);
  void come_from(Access& access, std::size_t argument) const;
  void* harmless(std::uint64_t bytes);

  void open_barrier();
  void carry_out(std::uint32_t simdgroup, std::uint32_t what, const Site* site, bool is_barrier);
  void check_lanes(std::uint32_t simdgroup, std::uint32_t what, const Site* site, std::uint32_t came);
  bool went_around(std::uint32_t thread, std::uint32_t number) const;

  // What people read (findings.cpp).
  SourcePlace place_of(const Site* site) const;
  ThreadPlace thread_at(std::uint32_t threadgroup, std::uint32_t thread) const;
  ThreadPlace thread_here(std::uint32_t thread) const { return thread_at(threadgroup_, thread); }
  std::string memory_name(const Access& access) const;
  std::uint64_t element_bytes(const Access& access) const;
  std::string element_of(const Access& access) const;
  std::string value_of(const Access& access) const;
  void describe_memory(Finding& finding, const Access& access) const;
  FindingStep step_of(const Access& access) const;
  Finding finding_of(CheckClass kind, const Access& access, std::string message) const;
  Finding race_finding(const Access& access, const Race& race, CheckClass kind, bool same_value) const;
  Finding outside_finding(const Access& access) const;
  Finding unwritten_finding(const Access& access) const;
  Finding first_store_finding(const Access& access, const Access& store) const;
  Finding misaligned_finding(const Access& access, std::uintptr_t alignment) const;
  Finding read_only_finding(const Access& access) const;
  Finding plain_finding(CheckClass kind, const char* name, std::uint32_t thread, const Site* site) const;
  Finding timeout_finding(const std::string& place) const;
  Finding two_barriers_finding(std::uint32_t a, const Site* at_a, std::uint32_t b, const Site* at_b) const;
  Finding missed_barrier_finding(std::uint32_t waits, const Site* site, std::uint32_t missing, bool around) const;
  Finding missing_lanes_finding(std::uint32_t simdgroup, std::uint32_t lane, std::uint32_t missing, const Site* site,
                                bool is_barrier, bool is_matrix) const;
  Finding non_uniform_finding(std::uint32_t simdgroup, std::uint32_t lanes, const Site* site,
                              ir::CrossLane operation) const;
  Finding inactive_lane_finding(std::uint32_t simdgroup, std::uint32_t lane, std::uint32_t source,
                                const Site* site) const;

  std::shared_ptr<CheckSession::State> session_;
  const KernelInfo& kernel_;
  const std::string launch_;
  const std::vector<WatchedArgument> arguments_;
  const WatchedGrid grid_;
  SourceLines& lines_;
  std::map<std::uint32_t, NamedRoot> roots_;
  std::vector<const Site*> sites_;  // by id, those that were come to

  std::uint32_t threadgroup_ = 0;  // the number of the one that runs, from 1
  std::uint32_t threads_ = 0;      // of it
  std::span<std::byte> memory_;
  void* const* threadgroup_arguments_ = nullptr;
  Clock clock_;
  std::uint32_t period_ = 1;                    // Cell::is_shared's
  std::vector<std::unique_ptr<Cells>> device_;  // of memory that arguments share, in pieces that do not overlap
  SparseCells elsewhere_;
  Cells local_;
  struct Quick {
    std::uint64_t bytes = 0, front = 0;  // bytes with those in front
    const Cells* cells = nullptr;        // null: nobody can race there
    bool is_writable = false;
  };
  std::vector<Quick> quick_;                                   // by argument
  std::vector<std::uint64_t> local_written_;                   // a bit for each byte of threadgroup memory
  std::map<std::size_t, std::vector<std::uint64_t>> written_;  // the same of arguments that are undefined
  std::array<Simdgroup, 32> simdgroups_;
  struct AtBarrier {
    const Site* site = nullptr;
    std::uint32_t what = 0;
  };
  std::vector<AtBarrier> at_barrier_;
  std::vector<std::bitset<most_meetings>> around_;  // by thread, since it last came to them
  bool has_fences_ = false;

  std::vector<Access> unwritten_;  // reads of the threadgroup that runs
  struct FirstStore;
  std::vector<FirstStore> first_stores_;  // atomic ones to threadgroup memory that no barrier has ordered for all
  std::vector<TwoWrites> two_writes_;
  bool is_counted_ = false;         // a race of the last access: it may be one within its threadgroup and one across
  std::vector<Access> last_write_;  // whose two_writes_ are to be settled
  // Bytes of a cell, a bit for each, that races wrote different values to: in a period, and ever.
  struct Disputed {
    std::uint32_t period = 0;
    unsigned bytes = 0, ever = 0;
  };
  std::unordered_map<std::uintptr_t, Disputed> disputed_;  // by the cell's number
  std::vector<Finding> findings_;
  std::map<Key, std::size_t> known_;
  std::uint64_t lost_ = 0;
  std::vector<std::byte> harmless_;
};

}  // namespace metalloid::checker
