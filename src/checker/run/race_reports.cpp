// Races, and whether two writes that race write the same.
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "checker/run/access.h"
#include "checker/run/watch.h"

namespace metalloid::checker {
namespace {

constexpr std::size_t most_disputed = std::size_t{1} << 16;  // cells

// Of two writes. What an atomic operation that reads, too, makes of memory depends on the other.
bool may_write_the_same(std::uint32_t flags, bool is_atomic, const Slot& earlier) {
  return earlier.writes && (flags & (access_writes | access_reads)) == access_writes && earlier.atomic == is_atomic;
}

}  // namespace

void Watch::check_races(const Access& access) {
  Slot slot{.threadgroup = threadgroup_,
            .time = clock_.time(access.thread / 32),
            .thread = static_cast<std::uint16_t>(access.thread & 0x3fff),
            .writes = access.writes(),
            .atomic = access.is_atomic(),
            .site = static_cast<std::uint16_t>(std::min(access.site->id, 0xffffu)),
            .argument = static_cast<std::uint8_t>(std::min(access.root, 255u))};
  sites_[slot.site] = access.site;
  std::byte* at = access.address;
  std::byte* const end = at + access.bytes;
  is_counted_ = false;
  bool is_told = false;
  while (at < end) {
    const unsigned first = reinterpret_cast<std::uintptr_t>(at) % granule;
    const auto count = static_cast<unsigned>(std::min<std::ptrdiff_t>(granule - first, end - at));
    slot.bytes = static_cast<std::uint8_t>(((1u << count) - 1) << first);
    const Races races =
        enter(cell_of(access, reinterpret_cast<std::uintptr_t>(at)), slot, access.space, clock_, period_);
    if ((races.within || races.across) && !is_told) [[unlikely]] {
      for (const std::optional<Race>& race : {races.within, races.across}) {
        if (!race) continue;
        if (may_write_the_same(access.flags, access.is_atomic(), race->earlier)) {
          TwoWrites& two = two_writes_.emplace_back();
          two.race = *race;
          two.address = at;
          two.bytes = static_cast<std::uint8_t>((slot.bytes & race->earlier.bytes) >> first);
          std::memcpy(two.before.data(), at, count);
        } else {
          report_race(access, *race, /*same_value=*/false);
          is_told = true;
        }
      }
    }
    at += count;
  }
  if (two_writes_.empty()) [[likely]]
    return;
  if ((access.flags & access_has_value) != 0) {
    const auto* value = reinterpret_cast<const std::byte*>(&access.value);
    for (TwoWrites& two : two_writes_) {
      const std::ptrdiff_t from = two.address - access.address;
      std::memcpy(
          two.after.data(), value + from,
          std::min(std::size_t{granule}, static_cast<std::size_t>(access.bytes) - static_cast<std::size_t>(from)));
    }
    judge_writes(access);
  } else {
    last_write_.assign(1, access);
  }
}

void Watch::settle_writes(bool is_written) {
  const Access access = last_write_.front();
  if (!is_written) {
    for (const TwoWrites& two : std::exchange(two_writes_, {})) report_race(access, two.race, /*same_value=*/false);
    return;
  }
  const std::byte* end = access.address + access.bytes;
  for (TwoWrites& two : two_writes_) {
    std::memcpy(two.after.data(), two.address,
                std::min(granule - reinterpret_cast<std::uintptr_t>(two.address) % granule,
                         static_cast<std::size_t>(end - two.address)));
  }
  judge_writes(access);
}

void Watch::judge_writes(const Access& access) {
  // Of races within the threadgroup and of those across, the gravest.
  std::array<const TwoWrites*, 2> told{};
  std::array<bool, 2> is_same{};
  for (const TwoWrites& two : two_writes_) {
    const auto at = reinterpret_cast<std::uintptr_t>(two.address);
    unsigned differ = 0;
    for (unsigned i = 0; i < granule; ++i) {
      if ((two.bytes >> i & 1) != 0 && two.before[i] != two.after[i]) differ |= 1u << (at % granule + i);
    }
    const bool is_near = two.race.earlier.threadgroup == threadgroup_;
    bool same = differ == 0 && disputed_.size() < most_disputed;
    // Memory has what was written last, and who wrote something else before stays in a race with this write, too.
    if (const auto known = disputed_.find(at / granule); same && known != disputed_.end()) {
      const unsigned bytes = !is_near ? known->second.ever : known->second.period == period_ ? known->second.bytes : 0;
      same = (bytes & unsigned{two.bytes} << at % granule) == 0;
    }
    if (differ != 0 && disputed_.size() < most_disputed) {
      Disputed& disputed = disputed_[at / granule];
      if (disputed.period != period_) disputed.bytes = 0;
      disputed.period = period_;
      disputed.bytes |= differ;
      disputed.ever |= differ;
    }
    if (!told[is_near] || (is_same[is_near] && !same)) {
      told[is_near] = &two;
      is_same[is_near] = same;
    }
  }
  const std::vector<TwoWrites> two_writes = std::exchange(two_writes_, {});
  for (const bool is_near : {true, false}) {
    if (told[is_near]) report_race(access, told[is_near]->race, is_same[is_near]);
  }
}

void Watch::report_race(const Access& access, const Race& race, bool same_value) {
  const Slot& earlier = race.earlier;
  const bool same_group = earlier.threadgroup == threadgroup_;
  const bool two_arguments =
      access.space == Space::device && access.root < 255 && earlier.argument < 255 && earlier.argument != access.root;
  CheckClass kind = access.space == Space::device ? CheckClass::device_race : CheckClass::threadgroup_race;
  if (two_arguments) {
    kind = CheckClass::overlapping_arguments;
  } else if (same_group && race.order == Order::met) {
    kind = CheckClass::missing_fence;
  } else if (race.is_of_lockstep) {
    kind = CheckClass::lockstep;
  }
  forget_unwritten(access);
  if (looks_for(kind)) add_race(access, race, kind, same_value);
}

void Watch::add_race(const Access& access, const Race& race, CheckClass kind, bool same_value) {
  const std::uint32_t a = std::min<std::uint32_t>(race.earlier.site, access.site->id),
                      b = std::max<std::uint32_t>(race.earlier.site, access.site->id);
  const Key key{CheckClass::threadgroup_race, a, b, access.root};
  const auto known = known_.find(key);
  if (known == known_.end()) {
    is_counted_ = true;
    if (is_new(CheckClass::threadgroup_race, a, b, access.root)) add(race_finding(access, race, kind, same_value));
    return;
  }
  Finding& finding = findings_[known->second];
  if (!std::exchange(is_counted_, true)) ++finding.count;
  const auto gravity = [](CheckClass of, bool is_note) {
    if (is_note) return 0;
    return of == CheckClass::lockstep ? 1 : of == CheckClass::missing_fence ? 2 : 3;
  };
  // What is told already, unless this is graver.
  if (gravity(kind, same_value) <= gravity(finding.kind, finding.severity == Severity::note)) return;
  Finding graver = race_finding(access, race, kind, same_value);
  graver.count = finding.count;
  graver.kernel = kernel_.name;
  finding = std::move(graver);
}

// Lines that threads of two simdgroups race in need not be told again for lanes of one.
void Watch::drop_lesser_races() {
  const auto lines_of = [](const Finding& finding) {
    const std::uint32_t a = finding.steps[0].place.line, b = finding.steps[1].place.line;
    return std::tuple(finding.memory, std::min(a, b), std::max(a, b));
  };
  std::set<decltype(lines_of(findings_.front()))> raced;
  for (const Finding& finding : findings_) {
    const bool is_race = finding.kind == CheckClass::threadgroup_race || finding.kind == CheckClass::device_race;
    if (is_race && finding.severity == Severity::error) raced.insert(lines_of(finding));
  }
  std::erase_if(findings_, [&](const Finding& finding) {
    return finding.kind == CheckClass::lockstep && raced.contains(lines_of(finding));
  });
}

}  // namespace metalloid::checker
