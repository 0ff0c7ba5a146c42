// Sizes and names of the enumerations in metalloid/reflection.h.
#include "metalloid/reflection.h"

#include <algorithm>

namespace metalloid {

ElementType pointee_at(const TypeInfo& type, std::uint64_t offset) {
  if (type.size == 0) return ElementType::none;
  offset %= type.size;
  if (type.pointee != ElementType::none || type.members.empty()) return type.pointee;
  if (type.array_length != 0) offset %= std::max<std::uint64_t>(type.size / type.array_length, 1);
  const TypeInfo* inner = nullptr;
  std::uint64_t start = 0;
  for (const StructMember& member : type.members) {
    if (member.offset > offset || offset - member.offset >= member.type.front().size) continue;
    if (inner) return ElementType::none;  // a union: either may be meant
    inner = &member.type.front();
    start = member.offset;
  }
  return inner ? pointee_at(*inner, offset - start) : ElementType::none;
}

bool differ_in_format(ElementType one, ElementType other) {
  return is_floating(one) && is_floating(other) && one != other;
}

std::string_view name_of(Builtin builtin) {
  constexpr std::string_view names[] = {
      "",
      "thread_position_in_grid",
      "thread_position_in_threadgroup",
      "thread_index_in_threadgroup",
      "threadgroup_position_in_grid",
      "threads_per_grid",
      "threads_per_threadgroup",
      "dispatch_threads_per_threadgroup",
      "threadgroups_per_grid",
      "thread_index_in_simdgroup",
      "simdgroup_index_in_threadgroup",
      "threads_per_simdgroup",
      "simdgroups_per_threadgroup",
      "dispatch_simdgroups_per_threadgroup",
      "thread_index_in_quadgroup",
      "quadgroup_index_in_threadgroup",
      "quadgroups_per_threadgroup",
      "dispatch_quadgroups_per_threadgroup",
      "grid_origin",
      "grid_size",
      "thread_index_in_grid",
  };
  return names[static_cast<std::size_t>(builtin)];
}

}  // namespace metalloid
