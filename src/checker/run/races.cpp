#include "checker/run/races.h"

namespace metalloid::checker {
namespace {

bool conflicts(const Slot& a, const Slot& b) {
  return (a.bytes & b.bytes) != 0 && (a.writes || b.writes) && !(a.atomic && b.atomic);
}

// Of races within one threadgroup.
int gravity(const Race& race) { return race.order == Order::met ? 1 : race.is_of_lockstep ? 0 : 2; }

// Whether nothing can race with `old` and not with `access`, where no thread can come between the two.
bool replaces(const Slot& access, const Slot& old) {
  if ((old.bytes & ~access.bytes) != 0 || (old.atomic != access.atomic && !old.atomic)) return false;
  return access.writes || !old.writes;
}

// A mixing function of 32 bits (Wellons, hash-prospector).
std::uint32_t scramble(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Threads that have read the same bytes as an access, unordered with it.
class Readers {
 public:
  void count(Slot& slot, const Slot& access) {
    if (slot.writes || access.writes || (access.bytes & ~slot.bytes) != 0 || slot.atomic != access.atomic) return;
    const std::uint64_t simdgroup = std::uint64_t{slot.threadgroup} << 16 | slot.thread / 32u;
    is_spread_ |= count_ > 0 && simdgroup != last_;
    if (count_ > 0 && simdgroup == last_) twin_ = &slot;
    is_near_ |= slot.threadgroup == access.threadgroup && slot.thread / 32u == access.thread / 32u;
    last_ = simdgroup;
    ++count_;
  }
  // Whether whoever races with any later read like the access, by a thread of its simdgroup or by any thread, races
  // with one of them: no barrier of a simdgroup orders those of two simdgroups.
  bool stand_for_simdgroup() const { return count_ > 1 && is_near_; }
  bool stand_for_all() const { return is_spread_; }
  // One of a simdgroup of which there is another: a reader of another simdgroup tells more. Null if there is none.
  Slot* twin() const { return twin_; }

 private:
  unsigned count_ = 0;
  std::uint64_t last_ = 0;
  Slot* twin_ = nullptr;
  bool is_near_ = false, is_spread_ = false;
};

}  // namespace

Races enter(Cell& cell, const Slot& access, Space space, const Clock& clock, std::uint32_t period) {
  Races races;
  Slot *place = nullptr, *raced = nullptr;
  bool is_known = false;    // by what is remembered already
  bool is_written = false;  // in this period
  Readers readers;
  for (Slot& slot : cell.slots) {
    if (slot.bytes == 0) {
      if (!place) place = &slot;
      continue;
    }
    if (slot.threadgroup != access.threadgroup) {
      if (space == Space::threadgroup) {  // of a threadgroup that has ended
        slot.bytes = 0;
        if (!place) place = &slot;
      } else if (conflicts(slot, access)) {
        if (!races.across) races.across = Race{slot};
        raced = &slot;
        is_written = true;
      } else {
        readers.count(slot, access);
      }
      continue;
    }
    const bool is_over = clock.is_over(space, slot.thread / 32u, slot.time);
    is_written |= slot.writes != 0 && !is_over;
    if (slot.thread == access.thread) {
      if (slot.time == access.time && slot.writes >= access.writes && slot.atomic == access.atomic &&
          (access.bytes & ~slot.bytes) == 0) {
        is_known = true;
      } else if (replaces(access, slot)) {
        place = &slot;
      }
      continue;
    }
    const Order order =
        is_over ? Order::ordered : clock.order(space, slot.thread / 32u, slot.time, access.thread / 32u);
    if (order == Order::ordered) {
      // Threads of other threadgroups may still race with what is in device memory.
      if (space == Space::threadgroup || replaces(access, slot)) place = &slot;
    } else if (conflicts(slot, access)) {
      // A copy reads and writes at one site.
      const bool is_of_lockstep = order != Order::met && slot.thread / 32 == access.thread / 32 &&
                                  (slot.site != access.site || slot.writes != access.writes);
      const Race race{slot, order, is_of_lockstep};
      if (!races.within || gravity(race) > gravity(*races.within)) races.within = race;
      raced = &slot;
    } else {
      readers.count(slot, access);
    }
  }
  const bool is_stood_for = !access.writes && (readers.stand_for_all() || readers.stand_for_simdgroup());
  if (access.writes) {
    cell.unshare();
  } else if (is_stood_for && !is_written && !access.atomic) {
    cell.share(period, access.bytes,
               readers.stand_for_all() ? Cell::any_simdgroup : static_cast<std::uint16_t>(access.thread / 32));
  }
  if (is_known || is_stood_for) return races;
  if (!place) place = raced;  // it is told
  if (!place && !access.writes) place = readers.twin();
  if (!place) {
    // A write tells more than a read. Which one goes is as good as random, so that no pattern of accesses is always
    // forgotten, and depends on the access alone, so that runs are alike.
    const unsigned first = scramble(access.thread + 1024u * access.site + access.time) % cell.slots.size();
    place = &cell.slots[first];
    for (unsigned i = 0; i < cell.slots.size() && place->writes; ++i) {
      Slot& other = cell.slots[(first + i) % cell.slots.size()];
      if (!other.writes) place = &other;
    }
  }
  Cell::put(*place, access);
  return races;
}

}  // namespace metalloid::checker
