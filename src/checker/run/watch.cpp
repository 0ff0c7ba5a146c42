#include "checker/run/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "checker/run/access.h"
#include "support/readable.h"

namespace metalloid::checker {
namespace {

constexpr std::size_t harmless_bytes = std::size_t{64} << 10;
constexpr std::size_t most_pairs = 10'000;  // of places, of one dispatch

}  // namespace

Watch::Watch(std::shared_ptr<CheckSession::State> session, const KernelInfo& kernel,
             std::vector<WatchedArgument> arguments, const WatchedGrid& grid, SourceLines& lines, std::string launch)
    : session_(std::move(session)),
      kernel_(kernel),
      launch_(std::move(launch)),
      arguments_(std::move(arguments)),
      grid_(grid),
      lines_(lines) {
  sites_.resize(std::size_t{1} << 16);
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].is_undefined) written_[i].resize((arguments_[i].bytes + 63) / 64);
  }
  lay_out_shadow();
  harmless_.resize(harmless_bytes + 256);
  findings_.reserve(64);
}

Watch::~Watch() = default;

// Arguments whose memory overlaps have their cells in common. Of what no argument lets a kernel write, threads only
// read.
void Watch::lay_out_shadow() {
  quick_.resize(arguments_.size());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    quick_[i].front = arguments_[i].offset;
    quick_[i].bytes = arguments_[i].offset + arguments_[i].bytes;
    quick_[i].is_writable = kernel_.arguments[i].access == metalloid::Access::read_write ||
                            kernel_.arguments[i].kind == ArgumentKind::threadgroup_memory;
    if (kernel_.arguments[i].kind == ArgumentKind::threadgroup_memory) quick_[i].cells = &local_;
    if (arguments_[i].address && arguments_[i].bytes != 0) order.push_back(i);
  }
  const auto begin_of = [&](std::size_t i) { return arguments_[i].address - arguments_[i].offset; };
  std::ranges::sort(order, {}, begin_of);
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    const std::byte* begin = begin_of(order[first]);
    const std::byte* end = begin;
    bool is_written = false;
    for (last = first; last < order.size() && (last == first || begin_of(order[last]) < end); ++last) {
      end = std::max<const std::byte*>(end, arguments_[order[last]].address + arguments_[order[last]].bytes);
      is_written |= quick_[order[last]].is_writable;
    }
    if (!is_written) continue;
    const auto& cells = device_.emplace_back(std::make_unique<Cells>());
    cells->reserve(begin, static_cast<std::size_t>(end - begin));
    for (std::size_t i = first; i < last; ++i) quick_[order[i]].cells = cells.get();
  }
}

Cell& Watch::cell_of(const Access& access, std::uintptr_t address) {
  if (access.space == Space::threadgroup) return local_.at(address);
  if (access.is_elsewhere) return elsewhere_.at(address);
  return quick_[access.root].cells->at(address);
}

void Watch::set_roots(const NamedRoot* roots) {
  for (; roots && roots->name; ++roots) roots_[roots->root] = *roots;
}

void Watch::begin_threadgroup(std::uint64_t index, std::span<std::byte> memory, void* const* arguments) {
  settle(/*is_written=*/false);
  tell_unwritten();
  threadgroup_ = static_cast<std::uint32_t>(index + 1);
  memory_ = memory;
  threadgroup_arguments_ = arguments;
  clock_.begin_threadgroup();
  ++period_;
  if (!memory.empty() && !local_.covers(reinterpret_cast<std::uintptr_t>(memory.data()))) {
    local_.reserve(memory.data(), memory.size());
  }
  local_written_.assign((memory.size() + 63) / 64, 0);
  first_stores_.clear();
  const Size size = threads_of(grid_, threadgroup_);
  threads_ = static_cast<std::uint32_t>(size.volume());
  for (std::uint32_t i = 0; i < simdgroups_.size(); ++i) {
    const std::uint32_t first = 32 * i, count = threads_ > first ? std::min(threads_ - first, 32u) : 0;
    simdgroups_[i].exists = count == 32 ? ~0u : (1u << count) - 1;
    simdgroups_[i].ended = simdgroups_[i].came = 0;
  }
  at_barrier_.assign(threads_, {});
  around_.assign(threads_, {});
}

std::uint64_t Watch::permuted(std::uint64_t place, std::uint64_t count, std::uint64_t round) const {
  const std::uint64_t seed = session_->options.schedule;
  if (seed == 0 || count < 2) return place;
  // SplitMix64 (Steele, Lea, Flood 2014).
  const auto scramble = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  };
  const std::uint64_t random = scramble(seed + scramble(round));
  std::uint64_t step = random % count | 1;
  while (std::gcd(step, count) != 1) step += 2;
  return static_cast<std::uint64_t>((static_cast<__uint128_t>(step) * place + (random >> 32)) % count);
}

bool Watch::is_new(CheckClass kind, std::uint32_t a, std::uint32_t b, std::uint32_t root) {
  if (a > b) std::swap(a, b);
  const Key key{kind, a, b, root};
  const auto known = known_.find(key);
  if (known != known_.end()) {
    ++findings_[known->second].count;
    return false;
  }
  if (findings_.size() >= most_pairs) {
    ++lost_;
    return false;
  }
  known_.emplace(key, findings_.size());
  return true;
}

void Watch::add(Finding finding) {
  finding.kernel = kernel_.name;
  findings_.push_back(std::move(finding));
}

void Watch::finish() {
  settle(/*is_written=*/false);
  tell_unwritten();
  drop_lesser_races();
  for (Finding& finding : std::exchange(findings_, {})) {
    finding.launch = launch_;
    session_->add(std::move(finding), lines_);
  }
  session_->count_dispatch(/*is_examined=*/true);
  known_.clear();
}

void* Watch::harmless(std::uint64_t bytes) {
  if (bytes > harmless_bytes) __builtin_trap();  // the guard ends the dispatch; what was found stays
  std::byte* place = harmless_.data() + (256 - reinterpret_cast<std::uintptr_t>(harmless_.data()) % 256);
  std::memset(place, 0, bytes);
  return place;
}

void Watch::come_from(Access& access, std::size_t argument) const {
  access.base = arguments_[argument].address;
  access.size = arguments_[argument].bytes;
  access.front = arguments_[argument].offset;
  access.root = static_cast<std::uint32_t>(argument);
}

// Of an address that nothing is known of: what it lies in, if the dispatch bound it. Otherwise memory that an argument
// buffer leads to, or none at all.
bool Watch::find_root(Access& access) {
  const auto* address = static_cast<const std::byte*>(access.address);
  if (address >= memory_.data() && address < memory_.data() + memory_.size()) {
    access.base = memory_.data();
    access.size = memory_.size();
    access.space = Space::threadgroup;
    return true;
  }
  for (const bool in_front : {false, true}) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const WatchedArgument& argument = arguments_[i];
      const std::byte* begin = argument.address - (in_front ? argument.offset : 0);
      if (address < begin || address >= argument.address + argument.bytes) continue;
      come_from(access, i);
      return true;
    }
  }
  if ((access.flags & access_any_space) != 0) {
    access.is_private = true;
    access.base = access.address;
    access.size = access.bytes;
    return true;
  }
  // Elements of tensors are reached by an address that the kernel loads: those outside belong to the nearest one.
  std::uintptr_t nearest = ~std::uintptr_t{0};
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (kernel_.arguments[i].kind != ArgumentKind::tensor || !arguments_[i].address) continue;
    const std::byte* end = arguments_[i].address + arguments_[i].bytes;
    const auto distance = static_cast<std::uintptr_t>(address < end ? arguments_[i].address - address : address - end);
    if (distance >= nearest) continue;
    nearest = distance;
    come_from(access, i);
  }
  if (nearest != ~std::uintptr_t{0}) return true;
  access.base = access.address;
  access.size = access.bytes;
  access.is_elsewhere = true;
  return support::is_readable(access.address);
}

void* Watch::access(void* address, void* base, std::uint64_t size, std::uint32_t root, std::uint64_t bytes,
                    std::uint64_t value, std::uint32_t flags, std::uint32_t thread, const Site* site) {
  settle(/*is_written=*/true);
  if (bytes == 0) return address;
  Access access{.address = static_cast<std::byte*>(address),
                .base = static_cast<std::byte*>(base),
                .size = size,
                .root = root,
                .bytes = bytes,
                .value = value,
                .flags = flags,
                .thread = thread,
                .site = site};
  if (root < first_threadgroup_root) {
    if (!base) access.base = arguments_[root].address;  // in functions that stay calls
    const ArgumentInfo& argument = kernel_.arguments[root];
    if (argument.kind == ArgumentKind::threadgroup_memory) {
      access.space = Space::threadgroup;
    } else {
      access.front = arguments_[root].offset;
    }
    access.size = arguments_[root].bytes;
  } else if (root < first_constant_root) {
    access.space = Space::threadgroup;
  } else if (root == unknown_root) {
    if (!find_root(access)) return leads_outside(access);
  } else {
    access.is_private = true;
  }
  if (!access.is_inside()) return leads_outside(access);
  const std::uintptr_t alignment = std::uintptr_t{1} << alignment_of(flags);
  // A variable lies wherever it was laid; where in it the access lies is the kernel's doing.
  const bool is_variable = access.root >= first_threadgroup_root && access.root < trusted_root;
  const auto place =
      is_variable ? static_cast<std::uint64_t>(access.offset()) : reinterpret_cast<std::uintptr_t>(address);
  if (((place - bytes_behind(flags)) & (alignment - 1)) != 0) [[unlikely]] {
    const bool is_argument = access.space == Space::device && access.root < arguments_.size();
    const std::uint64_t offset = static_cast<std::uint64_t>(access.offset()) - bytes_behind(flags);
    if (!is_argument || !is_aligned(arguments_[access.root], offset, alignment)) report_misaligned(access, alignment);
  }
  if (access.is_private) return address;
  if (access.root < first_threadgroup_root) {
    if (access.space == Space::device) {
      if ((flags & access_writes) != 0 && kernel_.arguments[access.root].access == metalloid::Access::read)
          [[unlikely]] {
        report_read_only(access);
        return harmless(bytes);
      }
      if (!quick_[access.root].cells) return address;
      if (arguments_[access.root].is_undefined && access.offset() >= 0) check_written(access);
    }
  } else if (access.is_elsewhere) {
    check_races(access);
    return address;
  }
  if (access.space == Space::threadgroup) check_written(access);
  check_races(access);
  return address;
}

void Watch::check_written(const Access& access) {
  const bool is_local = access.space == Space::threadgroup;
  std::vector<std::uint64_t>& written = is_local ? local_written_ : written_[access.root];
  const std::byte* begin = is_local ? memory_.data() : arguments_[access.root].address;
  const auto first = static_cast<std::size_t>(access.address - begin);
  bool is_any_missing = false;
  for (std::size_t at = first; at < first + access.bytes;) {
    const std::size_t bit = at % 64, count = std::min<std::size_t>(64 - bit, first + access.bytes - at);
    const std::uint64_t bits = (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << bit;
    std::uint64_t& word = written[at / 64];
    if ((word & bits) != bits) is_any_missing = true;
    // One report for a place: what was read once is as good as written.
    word |= bits;
    at += count;
  }
  if (!looks_for(CheckClass::uninitialised)) return;
  const bool reads = (access.flags & access_reads) != 0;
  if (access.is_atomic() && is_local) check_first_stores(access, !reads && is_any_missing);
  constexpr std::size_t most = 4096;
  if (reads && is_any_missing && unwritten_.size() < most) unwritten_.push_back(access);
}

void Watch::check_first_stores(const Access& access, bool is_first) {
  constexpr std::size_t most = 1024;
  const std::uint32_t simdgroup = access.thread / 32;
  if (is_first && first_stores_.size() < most) first_stores_.push_back({access, clock_.time(simdgroup)});
  if ((access.flags & access_reads) == 0) return;
  for (const FirstStore& store : first_stores_) {
    if (store.access.thread == access.thread || !store.access.overlaps(access)) continue;
    if (clock_.order(access.space, store.access.thread / 32, store.time, simdgroup) == Order::ordered) continue;
    if (is_new(CheckClass::uninitialised, access.site->id, store.access.site->id, access.root)) {
      add(first_store_finding(access, store.access));
    }
  }
}

void Watch::forget_unwritten(const Access& access) {
  std::erase_if(unwritten_, [&](const Access& read) { return read.overlaps(access); });
}

void Watch::tell_unwritten() {
  for (const Access& read : unwritten_) {
    if (is_new(CheckClass::uninitialised, read.site->id, 0, read.root)) add(unwritten_finding(read));
  }
  unwritten_.clear();
}

void* Watch::leads_outside(const Access& access) {
  if (looks_for(CheckClass::out_of_bounds) && is_new(CheckClass::out_of_bounds, access.site->id, 0, access.root)) {
    add(outside_finding(access));
  }
  return harmless(access.bytes);
}

void Watch::report_misaligned(const Access& access, std::uintptr_t alignment) {
  if (!looks_for(CheckClass::misaligned) || !is_new(CheckClass::misaligned, access.site->id, 0, access.root)) return;
  add(misaligned_finding(access, alignment));
}

void Watch::report_read_only(const Access& access) {
  if (!looks_for(CheckClass::read_only) || !is_new(CheckClass::read_only, access.site->id, 0, access.root)) return;
  add(read_only_finding(access));
}

void Watch::fail(CheckClass kind, const char* name, std::uint32_t thread, const Site* site) {
  settle(/*is_written=*/true);
  // Several variables may be read at one place.
  const std::size_t variable = name ? std::hash<std::string_view>()(name) : 0;
  if (!looks_for(kind) || !is_new(kind, site->id, 0, static_cast<std::uint32_t>(variable))) return;
  add(plain_finding(kind, name, thread, site));
}

void Watch::time_out(const std::string& place) {
  if (!looks_for(CheckClass::endless_loop)) return;
  add(timeout_finding(place));
}

}  // namespace metalloid::checker
