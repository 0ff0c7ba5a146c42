// Where argument buffers hold addresses, by what reflection says of their types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "metalloid/reflection.h"
#include "support/function_ref.h"

namespace metalloid::runtime {

struct PointerPlace {
  std::uint64_t offset = 0;  // bytes into an object of the type
  std::string name;          // for people: "layers[2].weights"; empty if the type is itself a pointer
  bool leads_to_pointers = false;
};

// Of one object, in order.
std::vector<PointerPlace> pointer_places(const TypeInfo& type);

bool holds_pointers(const ArgumentInfo& argument);

// Of each object that fits into the bytes. The first is what the argument is; whether others are there is not known.
using VisitPointer = support::function_ref<void(const PointerPlace&, std::uint64_t& address, bool is_first)>;
void for_each_pointer(const ArgumentInfo& argument, std::span<std::byte> bytes, VisitPointer visit);

}  // namespace metalloid::runtime
