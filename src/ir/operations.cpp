#include "ir/operations.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
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

// The words that a part of a pattern stands for.
struct Choice {
  std::string_view part;
  std::vector<std::string_view> words;
};

const Choice* find_choice(std::string_view part) {
  static const std::vector<Choice> choices = {
      {"<group>", {"simd", "quad"}},
      {"<reduction>",
       {"sum", "product", "min", "max", "prefix_inclusive_sum", "prefix_exclusive_sum", "prefix_inclusive_product",
        "prefix_exclusive_product"}},
      {"<bitwise>", {"and", "or", "xor"}},
      {"<permute>", {"broadcast", "shuffle", "shuffle_up", "shuffle_down", "shuffle_xor", "rotate_up", "rotate_down"}},
      {"<number>", {"i32", "u32", "i64", "u64", "f16", "f32"}},
      {"<word>", {"u32", "u64"}},
      {"<bits>", {"b32", "b64"}},
      {"<zip>", {"zip_low", "zip_high", "unzip_even", "unzip_odd"}},
      {"<element>", {"f16", "bf16", "f32"}},
  };
  for (const Choice& choice : choices) {
    if (choice.part == part) return &choice;
  }
  return nullptr;
}

// Up to the next dot, which goes too.
std::string_view take_part(std::string_view& rest) {
  const std::size_t dot = rest.find('.');
  const std::string_view part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  return part;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (std::count(pattern.begin(), pattern.end(), '.') != std::count(name.begin(), name.end(), '.')) return false;
  while (!pattern.empty()) {
    const std::string_view part = take_part(pattern), word = take_part(name);
    const Choice* choice = find_choice(part);
    if (choice ? std::find(choice->words.begin(), choice->words.end(), word) == choice->words.end() : part != word) {
      return false;
    }
  }
  return true;
}

// bfloats of matrices travel as i16.
llvm::Type* type_named(std::string_view name, bool is_pair, llvm::LLVMContext& context) {
  llvm::Type* type = name == "f16"    ? llvm::Type::getHalfTy(context)
                     : name == "bf16" ? llvm::Type::getInt16Ty(context)
                     : name == "f32"  ? llvm::Type::getFloatTy(context)
                                      : llvm::Type::getIntNTy(context, name.ends_with("64") ? 64 : 32);
  return is_pair ? llvm::FixedVectorType::get(type, 2) : type;
}

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

std::span<const Operation> all_operations() {
  using Type = OperationType;
  using Memory = llvm::MemoryEffects;
  constexpr bool convergent = true, diverging = false, returns = true, waits = false, meeting = true, alone = false;
  // Lanes exchange values here, and two of these keep their order; no memory that a kernel names is touched.
  const Memory exchange = Memory::inaccessibleMemOnly();
  // Text may lie anywhere in constant memory. Convergent for its place's sake: two messages never become one.
  const Memory log = Memory::readOnly() | Memory::inaccessibleMemOnly();
  // Flags say which memory is ordered, but accesses need no more freedom than around C's fences.
  const Memory order = Memory::unknown();
  static const std::vector<Operation> list = {
      {"threadgroup_barrier", Type::nothing, {Type::i32, Type::i32, Type::i32}, order, convergent, waits, meeting},
      {"simdgroup_barrier", Type::nothing, {Type::i32, Type::i32, Type::i32}, order, convergent, waits, meeting},
      {"turn_end", Type::nothing, {}, exchange, convergent, waits, meeting},
      {"fence", Type::nothing, {Type::i32, Type::i32, Type::i32}, order, diverging, returns, alone},
      {"thread_index", Type::i32, {}, Memory::none(), diverging, returns, alone},
      {"<group>.<reduction>.<number>", Type::first, {Type::first}, exchange, convergent, waits, meeting},
      {"<group>.<bitwise>.<word>", Type::first, {Type::first}, exchange, convergent, waits, meeting},
      {"<group>.<permute>.<bits>", Type::first, {Type::first, Type::i32}, exchange, convergent, waits, meeting},
      {"<group>.broadcast_first.<bits>", Type::first, {Type::first}, exchange, convergent, waits, meeting},
      {"<group>.ballot", Type::i64, {Type::i1}, exchange, convergent, waits, meeting},
      {"simdgroup_matrix.multiply_accumulate.<element>.<element>",
       Type::pair_f32,
       {Type::first, Type::second, Type::pair_f32},
       exchange,
       convergent,
       waits,
       meeting},
      {"simdgroup_matrix.transpose.<element>", Type::first, {Type::first}, exchange, convergent, waits, meeting},
      {"simdgroup_matrix.<zip>.<element>",
       Type::first,
       {Type::first, Type::first},
       exchange,
       convergent,
       waits,
       meeting},
      {"log",
       Type::nothing,
       {Type::i32, Type::i32, Type::constant_pointer, Type::constant_pointer, Type::constant_pointer,
        Type::thread_pointer, Type::i32},
       log,
       convergent,
       returns,
       alone},
      {"function_constant.defined", Type::i1, {Type::constant_pointer}, Memory::none(), diverging, returns, alone},
  };
  return list;
}

const Operation* find_operation(std::string_view name) {
  if (!name.starts_with(operation_prefix)) return nullptr;
  name.remove_prefix(operation_prefix.size());
  for (const Operation& operation : all_operations()) {
    if (matches(operation.pattern, name)) return &operation;
  }
  return nullptr;
}

std::vector<std::string> names_of(const Operation& operation) {
  std::vector<std::string> names = {std::string(operation_prefix)};
  for (std::string_view rest = operation.pattern; !rest.empty();) {
    const std::string_view part = take_part(rest);
    const auto* choice = find_choice(part);
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (const std::string_view word : choice ? choice->words : std::vector{part}) {
        longer.push_back(name + std::string(word) + (rest.empty() ? "" : "."));
      }
    }
    names = std::move(longer);
  }
  return names;
}

llvm::FunctionType* type_of(std::string_view name, llvm::LLVMContext& context) {
  const Operation* operation = find_operation(name);
  if (!operation) return nullptr;
  const bool is_pair = operation->pattern.find("<element>") != std::string_view::npos;
  // The name's last words, as many as the pattern has types.
  const std::size_t last = name.rfind('.');
  const std::size_t before = last == std::string_view::npos || last == 0 ? last : name.rfind('.', last - 1);
  const bool has_two = operation->pattern.ends_with("<element>.<element>");
  const std::string_view first = has_two ? name.substr(before + 1, last - before - 1) : name.substr(last + 1);
  const auto convert = [&](OperationType type) -> llvm::Type* {
    switch (type) {
      case OperationType::nothing: return llvm::Type::getVoidTy(context);
      case OperationType::i1: return llvm::Type::getInt1Ty(context);
      case OperationType::i32: return llvm::Type::getInt32Ty(context);
      case OperationType::i64: return llvm::Type::getInt64Ty(context);
      case OperationType::pair_f32: return llvm::FixedVectorType::get(llvm::Type::getFloatTy(context), 2);
      case OperationType::thread_pointer: return llvm::PointerType::get(context, 0);
      case OperationType::constant_pointer: return llvm::PointerType::get(context, 2);
      case OperationType::first: return type_named(first, is_pair, context);
      case OperationType::second: return type_named(name.substr(last + 1), is_pair, context);
    }
    return nullptr;
  };
  std::vector<llvm::Type*> parameters;
  for (const OperationType parameter : operation->parameters) parameters.push_back(convert(parameter));
  return llvm::FunctionType::get(convert(operation->result), parameters, /*isVarArg=*/false);
}

bool is_meeting(std::string_view name) {
  const Operation* operation = find_operation(name);
  return operation && operation->is_meeting;
}

bool is_lane_meeting(std::string_view name) {
  return is_meeting(name) && name != threadgroup_barrier_name && name != turn_end_name;
}

}  // namespace metalloid::ir
