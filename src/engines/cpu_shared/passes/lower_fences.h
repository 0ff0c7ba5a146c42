// Fences, and what barriers and atomic accesses order, for the host's processor.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

//   metalloid.fence(device, acq_rel, device)               fence acq_rel
//   metalloid.fence(threadgroup, acq_rel, device)          fence syncscope("singlethread") acq_rel
//   metalloid.fence(device, acq_rel, threadgroup)          the same
//   metalloid.threadgroup_barrier(device, acq_rel, device) the first, the barrier, the first
//
// One thread of the host runs all threads of a threadgroup. So order among these needs nothing of the processor: it is
// enough that the compiler moves no access over the fence, which is what "singlethread" means. The same holds for
// whatever goes to threadgroup memory, which nobody else sees, whatever scope the source names. Other threadgroups run
// on other threads of the host. Flags, orders and scopes that are no constants count as the strongest.
//
// Fences come before whatever looks at barriers: those that are left order nothing beyond the threadgroup. Atomic
// accesses keep their order, in the host's scopes.
void lower_fences(llvm::Module& module);

}  // namespace metalloid::engines::cpu
