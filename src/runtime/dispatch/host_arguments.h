// A dispatch's arguments as the checker's host checks see them.
#pragma once

#include "checker/host_checks.h"
#include "metalloid/dispatch.h"

namespace metalloid::runtime {

checker::HostArgument host_argument_of(const ArgumentInfo& argument, const Dispatch::Binding& binding);

// While a CheckSession exists: what is wrong with a dispatch's arguments becomes findings of it.
void check_host_arguments(const Kernel& kernel, const Dispatch& dispatch);

}  // namespace metalloid::runtime
