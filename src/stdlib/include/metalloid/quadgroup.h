// Quad-group functions (MSL spec §6.9.3).
#ifndef METALLOID_QUADGROUP_H
#define METALLOID_QUADGROUP_H

#include <metalloid/group_operations.h>
#include <metalloid/synchronization.h>

METALLOID_GROUP_VOTE(quad_vote, 0xful)
METALLOID_GROUP_FUNCTIONS(quad, 4)

#endif
