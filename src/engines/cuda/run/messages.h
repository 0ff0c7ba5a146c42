// What kernels print on a GPU.
#pragma once

#include "engines/cuda/run/report.h"

namespace metalloid::engines::cuda {

// Memory for the messages of launches that report there, once.
void make_room_for_messages(Address report);
// Hands those of a launch that is done to the host, and makes room for others.
void deliver_messages(Address report, const ReportedLaunch& launch);

}  // namespace metalloid::engines::cuda
