// What the recorder and the trace are told of a dispatch.
#pragma once

#include "metalloid/recorder.h"

namespace metalloid::runtime {

Event event_of(const Kernel& kernel, const Dispatch& dispatch);

}  // namespace metalloid::runtime
