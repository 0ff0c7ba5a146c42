#include "ir/operations.h"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

// Where an address of a whole operation leads.
struct Place {
  std::string_view name;
  OperationType pointer;
};
using Places = std::span<const Place>;
constexpr Place all_places[] = {{"threadgroup", OperationType::threadgroup_pointer},
                                {"device", OperationType::device_pointer},
                                {"constant", OperationType::constant_pointer},
                                {"held", OperationType::thread_pointer}};
constexpr Places readable = Places(all_places).first(3), writable = Places(all_places).first(2),
                 held = Places(all_places).last(1);

// Parameters of a whole operation: one, or several that say what a tile is, for each place where it may be.
struct WholeParameter {
  WholeParameter(OperationType type) : type(type) {}
  WholeParameter(Places memory, Places own = {}) : places(memory.begin(), memory.end()) {
    places.insert(places.end(), own.begin(), own.end());
  }
  OperationType type = OperationType::nothing;
  std::vector<Place> places;  // of a tile
};

void append_tile(std::vector<OperationType>& parameters, const Place& place) {
  using enum OperationType;
  parameters.push_back(place.pointer);
  parameters.insert(parameters.end(), {i64, i64, i64, i64, i64, i32});
}

// All that come of the parameters from `rest` on.
void add_whole(std::vector<Operation>& list, const Operation& begun, std::span<const WholeParameter> rest) {
  if (rest.empty()) {
    list.push_back(begun);
    return;
  }
  if (rest[0].places.empty()) {
    Operation next = begun;
    next.parameters.push_back(rest[0].type);
    return add_whole(list, next, rest.subspan(1));
  }
  for (const Place& place : rest[0].places) {
    Operation next = begun;
    next.name += fmt::format(".{}", place.name);
    append_tile(next.parameters, place);
    add_whole(list, next, rest.subspan(1));
  }
}

std::vector<Operation> make_operations() {
  using enum OperationType;
  using Memory = llvm::MemoryEffects;
  using Access = llvm::ModRefInfo;
#define EFFECTS(name, ...) const OperationEffects name = {__VA_ARGS__};
#include "ir/operations.def"
  std::vector<Operation> list;
#define OPERATION(name, spelling, effects, result, ...) \
  list.push_back({effects, std::string(name##_name), result, {__VA_ARGS__}, {}, {}, {}});
#include "ir/operations.def"

  enum : unsigned { numbers = 1, words = 2, bits = 4, votes = 8 };
  const std::pair<LaneGroup, std::string_view> groups[] = {
#define LANE_GROUP(name) {LaneGroup::name, #name},
#include "ir/operations.def"
  };
  const std::tuple<LaneType, std::string_view, unsigned> types[] = {
#define LANE_TYPE(name, suffix, sets, llvm_type) {LaneType::name, suffix, sets},
#include "ir/operations.def"
  };
  const auto add_lanes = [&](CrossLane operation, std::string_view spelling, unsigned set, OperationType result,
                             const std::vector<OperationType>& parameters) {
    for (const auto& [group, group_name] : groups) {
      for (const auto& [type, suffix, sets] : types) {
        if ((sets & set) == 0) continue;
        const std::string name = fmt::format("metalloid.{}.{}{}", group_name, spelling, suffix);
        list.push_back({exchange, name, result, parameters, CrossLaneOperation{group, operation, type}, {}, {}});
      }
    }
  };
#define LANE_OPERATION(name, spelling, set, result, ...) \
  add_lanes(CrossLane::name, spelling, set, result, {__VA_ARGS__});
#include "ir/operations.def"

  const std::pair<MatrixElement, std::string_view> elements[] = {
#define MATRIX_ELEMENT(name, llvm_type) {MatrixElement::name, #name},
#include "ir/operations.def"
  };
  const auto add_matrices = [&](MatrixAction action, std::string_view spelling, OperationType result,
                                const std::vector<OperationType>& parameters) {
    const bool has_b = std::ranges::find(parameters, matrix_b) != parameters.end();
    for (const auto& [a, a_name] : elements) {
      for (const auto& [b, b_name] : elements) {
        if (!has_b && a != b) continue;
        std::string name = fmt::format("metalloid.simdgroup_matrix.{}.{}", spelling, a_name);
        if (has_b) name += fmt::format(".{}", b_name);
        list.push_back({exchange, name, result, parameters, {}, MatrixOperation{action, a, b}, {}});
      }
    }
  };
#define MATRIX_OPERATION(name, result, ...) add_matrices(MatrixAction::name, #name, result, {__VA_ARGS__});
#include "ir/operations.def"

  constexpr OperationType address = thread_pointer;  // to be a pointer into the place
  const auto matrix_of = [](MatrixElement element) {
    switch (element) {
#define MATRIX_ELEMENT(name, llvm_type) \
  case MatrixElement::name: return matrix_##name;
#include "ir/operations.def"
    }
    return nothing;
  };
  const auto add_accesses = [&](const OperationEffects& effects, std::string_view spelling, Places places,
                                OperationType result, const std::vector<OperationType>& parameters) {
    const std::string whole = fmt::format("simdgroup_matrix.{}", spelling);
    for (const auto& [element, element_name] : elements) {
      for (const Place& place : places) {
        std::vector<OperationType> types = parameters;
        types.push_back(result);
        std::ranges::replace(types, address, place.pointer);
        std::ranges::replace(types, matrix_a, matrix_of(element));
        const OperationType placed = types.back();
        types.pop_back();
        list.push_back({effects,
                        fmt::format("metalloid.{}.{}.{}", whole, element_name, place.name),
                        placed,
                        types,
                        {},
                        {},
                        whole});
      }
    }
  };
#define MATRIX_ACCESS(name, places, effects, result, ...) add_accesses(effects, #name, places, result, {__VA_ARGS__});
#include "ir/operations.def"

  const WholeParameter any_tile(readable, held), written_tile(writable, held), held_tile(held), read_tile(readable),
      stored_tile(writable);
  const auto add_tiles = [&](std::string_view spelling, const std::vector<WholeParameter>& parameters) {
    for (const std::string_view scope : {"thread", "simdgroup", "simdgroups"}) {
      const std::string whole = fmt::format("{}.{}", spelling, scope);
      const Operation begun{
          scope == "thread" ? own_tile : tile, fmt::format("metalloid.{}", whole), nothing, {}, {}, {}, whole};
      add_whole(list, begun, parameters);
    }
  };
#define TILE_OPERATION(spelling, ...) add_tiles(spelling, {__VA_ARGS__});
#include "ir/operations.def"
  return list;
}

llvm::Type* type_of(LaneType type, llvm::LLVMContext& context) {
  switch (type) {
#define LANE_TYPE(name, suffix, sets, llvm_type) \
  case LaneType::name: return llvm::Type::get##llvm_type##Ty(context);
#include "ir/operations.def"
  }
  return nullptr;
}

llvm::Type* pair_of(MatrixElement element, llvm::LLVMContext& context) {
  switch (element) {
#define MATRIX_ELEMENT(name, llvm_type) \
  case MatrixElement::name: return llvm::FixedVectorType::get(llvm::Type::get##llvm_type##Ty(context), 2);
#include "ir/operations.def"
  }
  return nullptr;
}

llvm::Type* type_of(OperationType type, const Operation& operation, llvm::LLVMContext& context) {
  switch (type) {
    case OperationType::nothing: return llvm::Type::getVoidTy(context);
    case OperationType::i1: return llvm::Type::getInt1Ty(context);
    case OperationType::i32: return llvm::Type::getInt32Ty(context);
    case OperationType::i64: return llvm::Type::getInt64Ty(context);
    case OperationType::thread_pointer: return llvm::PointerType::get(context, 0);
    case OperationType::device_pointer: return llvm::PointerType::get(context, device_space);
    case OperationType::constant_pointer: return llvm::PointerType::get(context, constant_space);
    case OperationType::threadgroup_pointer: return llvm::PointerType::get(context, threadgroup_space);
    case OperationType::value: return type_of(operation.cross_lane->type, context);
    case OperationType::matrix_a: return pair_of(operation.matrix->a, context);
    case OperationType::matrix_b: return pair_of(operation.matrix->b, context);
    case OperationType::matrix_f16: return pair_of(MatrixElement::f16, context);
    case OperationType::matrix_bf16: return pair_of(MatrixElement::bf16, context);
    case OperationType::matrix_f32: return pair_of(MatrixElement::f32, context);
  }
  return nullptr;
}

}  // namespace

std::span<const Operation> all_operations() {
  static const std::vector<Operation> list = make_operations();
  return list;
}

const Operation* find_operation(std::string_view name) {
  static const auto by_name = [] {
    llvm::StringMap<const Operation*> made;
    for (const Operation& operation : all_operations()) made[operation.name] = &operation;
    return made;
  }();
  return by_name.lookup(name);
}

std::optional<CrossLaneOperation> parse_cross_lane(std::string_view name) {
  const Operation* operation = find_operation(name);
  return operation ? operation->cross_lane : std::nullopt;
}

std::optional<MatrixOperation> parse_matrix_operation(std::string_view name) {
  const Operation* operation = find_operation(name);
  return operation ? operation->matrix : std::nullopt;
}

llvm::FunctionType* type_of(std::string_view name, llvm::LLVMContext& context) {
  const Operation* operation = find_operation(name);
  if (!operation) return nullptr;
  std::vector<llvm::Type*> parameters;
  for (const OperationType parameter : operation->parameters) {
    parameters.push_back(type_of(parameter, *operation, context));
  }
  return llvm::FunctionType::get(type_of(operation->result, *operation, context), parameters, /*isVarArg=*/false);
}

const Operation* find_whole_operation(std::string_view whole, const llvm::FunctionType& type) {
  for (const Operation& operation : all_operations()) {
    if (operation.whole == whole && type_of(operation.name, type.getContext()) == &type) return &operation;
  }
  return nullptr;
}

bool is_meeting(std::string_view name) {
  const Operation* operation = find_operation(name);
  return operation && operation->is_meeting;
}

bool is_lane_meeting(std::string_view name) {
  return is_meeting(name) && name != threadgroup_barrier_name && name != turn_end_name;
}

}  // namespace metalloid::ir
