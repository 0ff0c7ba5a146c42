#include "ir/operations.h"

#include <array>
#include <cstddef>
#include <utility>

namespace metalloid::ir {
namespace {

template <typename Value, std::size_t count>
std::optional<Value> look_up(const std::array<std::pair<std::string_view, Value>, count>& table,
                             std::string_view name) {
  for (const auto& [spelling, value] : table) {
    if (spelling == name) return value;
  }
  return std::nullopt;
}

constexpr std::array<std::pair<std::string_view, CrossLane>, 20> operations = {{
    {"sum", CrossLane::sum},
    {"product", CrossLane::product},
    {"min", CrossLane::min},
    {"max", CrossLane::max},
    {"and", CrossLane::bit_and},
    {"or", CrossLane::bit_or},
    {"xor", CrossLane::bit_xor},
    {"prefix_inclusive_sum", CrossLane::prefix_inclusive_sum},
    {"prefix_exclusive_sum", CrossLane::prefix_exclusive_sum},
    {"prefix_inclusive_product", CrossLane::prefix_inclusive_product},
    {"prefix_exclusive_product", CrossLane::prefix_exclusive_product},
    {"broadcast", CrossLane::broadcast},
    {"shuffle", CrossLane::shuffle},
    {"shuffle_up", CrossLane::shuffle_up},
    {"shuffle_down", CrossLane::shuffle_down},
    {"shuffle_xor", CrossLane::shuffle_xor},
    {"rotate_up", CrossLane::rotate_up},
    {"rotate_down", CrossLane::rotate_down},
    {"broadcast_first", CrossLane::broadcast_first},
    {"ballot", CrossLane::ballot},
}};

constexpr std::array<std::pair<std::string_view, LaneType>, 8> types = {{
    {"i32", LaneType::i32},
    {"u32", LaneType::u32},
    {"i64", LaneType::i64},
    {"u64", LaneType::u64},
    {"f16", LaneType::f16},
    {"f32", LaneType::f32},
    {"b32", LaneType::b32},
    {"b64", LaneType::b64},
}};

constexpr std::array<std::pair<std::string_view, MatrixAction>, 6> matrix_actions = {{
    {"multiply_accumulate", MatrixAction::multiply_accumulate},
    {"transpose", MatrixAction::transpose},
    {"zip_low", MatrixAction::zip_low},
    {"zip_high", MatrixAction::zip_high},
    {"unzip_even", MatrixAction::unzip_even},
    {"unzip_odd", MatrixAction::unzip_odd},
}};

constexpr std::array<std::pair<std::string_view, MatrixElement>, 3> matrix_elements = {{
    {"f16", MatrixElement::f16},
    {"bf16", MatrixElement::bf16},
    {"f32", MatrixElement::f32},
}};

bool is_permute(CrossLane operation) {
  return operation >= CrossLane::broadcast && operation <= CrossLane::broadcast_first;
}

}  // namespace

std::optional<CrossLaneOperation> parse_cross_lane(std::string_view name) {
  if (!name.starts_with(operation_prefix)) return std::nullopt;
  name.remove_prefix(operation_prefix.size());
  CrossLaneOperation result;
  if (name.starts_with("simd.")) {
    result.group = LaneGroup::simd;
  } else if (name.starts_with("quad.")) {
    result.group = LaneGroup::quad;
  } else {
    return std::nullopt;
  }
  name.remove_prefix(5);
  std::size_t dot = name.find('.');
  auto operation = look_up(operations, name.substr(0, dot));
  if (!operation) return std::nullopt;
  result.operation = *operation;
  if (result.operation == CrossLane::ballot) {
    if (dot != std::string_view::npos) return std::nullopt;
    result.type = LaneType::boolean;
    return result;
  }
  if (dot == std::string_view::npos) return std::nullopt;
  auto type = look_up(types, name.substr(dot + 1));
  if (!type) return std::nullopt;
  result.type = *type;
  bool bits = result.type == LaneType::b32 || result.type == LaneType::b64;
  if (bits != is_permute(result.operation)) return std::nullopt;
  return result;
}

std::optional<MatrixOperation> parse_matrix_operation(std::string_view name) {
  constexpr std::string_view prefix = "metalloid.simdgroup_matrix.";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto action = look_up(matrix_actions, name.substr(0, dot));
  if (!action) return std::nullopt;
  name.remove_prefix(dot + 1);
  if (*action != MatrixAction::multiply_accumulate) {
    const auto element = look_up(matrix_elements, name);
    return element ? std::optional(MatrixOperation{*action, *element, *element}) : std::nullopt;
  }
  const std::size_t between = name.find('.');
  if (between == std::string_view::npos) return std::nullopt;
  const auto a = look_up(matrix_elements, name.substr(0, between));
  const auto b = look_up(matrix_elements, name.substr(between + 1));
  if (!a || !b) return std::nullopt;
  return MatrixOperation{*action, *a, *b};
}

bool is_meeting(std::string_view name) {
  return name == threadgroup_barrier_name || name == simdgroup_barrier_name || parse_cross_lane(name) ||
         parse_matrix_operation(name);
}

bool is_operation(std::string_view name) {
  return name == threadgroup_barrier_name || name == simdgroup_barrier_name || name == thread_index_name ||
         name == constant_defined_name || name == log_name || parse_cross_lane(name) || parse_matrix_operation(name);
}

}  // namespace metalloid::ir
