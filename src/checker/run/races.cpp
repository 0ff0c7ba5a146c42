#include "checker/run/races.h"

namespace metalloid::checker {
namespace {

bool conflicts(const Slot& a, const Slot& b) {
  return (a.bytes & b.bytes) != 0 && (a.writes || b.writes) && !(a.atomic && b.atomic);
}

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

}  // namespace

std::optional<Race> enter(Cell& cell, const Slot& access, Space space, const Clock& clock) {
  std::optional<Race> race;
  Slot *place = nullptr, *raced = nullptr;
  bool is_known = false;  // by what is remembered already
  unsigned readers = 0;
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
        if (!race) race = Race{slot, Order::unordered};
        raced = &slot;
      } else if (!slot.writes && !access.writes && (access.bytes & ~slot.bytes) == 0 && slot.atomic == access.atomic) {
        ++readers;
      }
      continue;
    }
    if (slot.thread == access.thread) {
      if (slot.time == access.time && slot.writes >= access.writes && slot.atomic == access.atomic &&
          (access.bytes & ~slot.bytes) == 0) {
        is_known = true;
      } else if (replaces(access, slot)) {
        place = &slot;
      }
      continue;
    }
    const Order order = clock.order(space, slot.thread / 32u, slot.time, access.thread / 32u);
    if (order == Order::ordered) {
      // Threads of other threadgroups may still race with what is in device memory.
      if (space == Space::threadgroup || replaces(access, slot)) place = &slot;
    } else if (conflicts(slot, access)) {
      if (!race || race->earlier.threadgroup != access.threadgroup) race = Race{slot, order};
      raced = &slot;
    } else if (!slot.writes && !access.writes && (access.bytes & ~slot.bytes) == 0 && slot.atomic == access.atomic) {
      ++readers;
    }
  }
  if (is_known || (readers > 1 && !access.writes)) return race;
  if (!place) place = raced;  // it is told
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
  *place = access;
  return race;
}

}  // namespace metalloid::checker
