#include "runtime/dispatch/argument_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace metalloid::runtime {
namespace {

void add_places(const TypeInfo& type, std::uint64_t offset, const std::string& name,
                std::vector<PointerPlace>& places) {
  if (!type.is_pointer && type.members.empty()) return;
  const std::uint64_t count = std::max<std::uint64_t>(type.array_length, 1), size = type.size / count;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t begin = offset + i * size;
    const std::string element = type.array_length == 0 ? name : fmt::format("{}[{}]", name, i);
    if (type.is_pointer) places.push_back({begin, element, type.leads_to_pointers});
    for (const StructMember& member : type.members) {
      add_places(member.type.front(), begin + member.offset,
                 element.empty() ? member.name : element + "." + member.name, places);
    }
  }
}

}  // namespace

std::vector<PointerPlace> pointer_places(const TypeInfo& type) {
  std::vector<PointerPlace> places;
  add_places(type, 0, "", places);
  return places;
}

bool holds_pointers(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::buffer && !pointer_places(argument.type).empty();
}

void for_each_pointer(const ArgumentInfo& argument, std::span<std::byte> bytes, VisitPointer visit) {
  const std::vector<PointerPlace> places = pointer_places(argument.type);
  if (places.empty()) return;
  for (std::size_t object = 0; argument.type.size <= bytes.size() - object; object += argument.type.size) {
    for (const PointerPlace& place : places) {
      std::byte* at = bytes.data() + object + place.offset;
      std::uint64_t address = 0;
      std::memcpy(&address, at, sizeof(address));
      visit(place, address, object == 0);
      std::memcpy(at, &address, sizeof(address));
    }
  }
}

}  // namespace metalloid::runtime
