#pragma once

#include "comparison.h"

namespace metalloid::comparison {

// The same task with as few statements as still show a difference of this kind, and with simpler expressions.
Task minimise(Task task, Difference::Kind kind);

}  // namespace metalloid::comparison
