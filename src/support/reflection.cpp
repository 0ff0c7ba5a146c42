// Sizes and names of the enumerations in metalloid/reflection.h.
#include "metalloid/reflection.h"

#include <algorithm>

namespace metalloid {

std::uint32_t size_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::none: return 0;
    case ScalarKind::boolean:
    case ScalarKind::int8:
    case ScalarKind::uint8: return 1;
    case ScalarKind::int16:
    case ScalarKind::uint16:
    case ScalarKind::float16:
    case ScalarKind::bfloat16: return 2;
    case ScalarKind::int32:
    case ScalarKind::uint32:
    case ScalarKind::float32: return 4;
    case ScalarKind::int64:
    case ScalarKind::uint64: return 8;
  }
  return 0;
}

ScalarKind pointee_at(const TypeInfo& type, std::uint64_t offset) {
  if (type.size == 0) return ScalarKind::none;
  offset %= type.size;
  if (type.pointee != ScalarKind::none || type.members.empty()) return type.pointee;
  if (type.array_length != 0) offset %= std::max<std::uint64_t>(type.size / type.array_length, 1);
  const TypeInfo* inner = nullptr;
  std::uint64_t start = 0;
  for (const StructMember& member : type.members) {
    if (member.offset > offset || offset - member.offset >= member.type.front().size) continue;
    if (inner) return ScalarKind::none;  // a union: either may be meant
    inner = &member.type.front();
    start = member.offset;
  }
  return inner ? pointee_at(*inner, offset - start) : ScalarKind::none;
}

bool differ_in_format(ScalarKind one, ScalarKind other) {
  const auto is_format = [](ScalarKind kind) {
    return kind == ScalarKind::float16 || kind == ScalarKind::bfloat16 || kind == ScalarKind::float32;
  };
  return is_format(one) && is_format(other) && one != other;
}

std::string_view name_of(ScalarKind kind) {
  constexpr std::string_view names[] = {"struct", "bool", "i8",  "u8",  "i16",  "u16", "i32",
                                        "u32",    "i64",  "u64", "f16", "bf16", "f32"};
  return names[static_cast<std::size_t>(kind)];
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
