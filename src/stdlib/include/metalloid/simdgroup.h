// SIMD-group functions (MSL spec §6.9.2).
#ifndef METALLOID_SIMDGROUP_H
#define METALLOID_SIMDGROUP_H

#include <metalloid/group_operations.h>
#include <metalloid/synchronization.h>

METALLOID_GROUP_VOTE(simd_vote, 0xfffffffful)
METALLOID_GROUP_FUNCTIONS(simd, 32)

#endif
