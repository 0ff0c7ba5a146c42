// Checks of bounds (ir/bounds/check_bounds.h) on a GPU: a thread that means an access outside of its memory leaves a
// report, if it is the first, and ends. Others go on: what waits for lanes or threads waits for those that have not
// ended (PTX ISA, shfl.sync and barrier), and no trap takes the process's context away.
#pragma once

#include "engines/cuda/passes/lower_arguments.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// Of the kernel, or of a function that stays a call.
void check_bounds(const Entry& entry, const KernelInfo& info);
// ir::hoist_checks, also of loops in which whole simdgroups meet: other ones may be in another form of the loop, and
// their barriers, which have no place, still meet.
void hoist_checks(const Entry& entry, unsigned turns_at_once);

}  // namespace metalloid::engines::cuda
