// What the checker's reports say of a class beside its name.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "metalloid/check.h"

namespace metalloid::checker {

// Of all, by their numbers.
const std::array<CheckClass, check_class_count>& all_classes();

// Some sentences: what it is, what comes of it, what mends it.
std::string_view help_of(CheckClass kind);

}  // namespace metalloid::checker
