// Metalloid: compile Metal Shading Language compute kernels on Linux and run them.
#pragma once

#include "metalloid/device.h"
#include "metalloid/dispatch.h"
#include "metalloid/error.h"
#include "metalloid/library.h"
#include "metalloid/queue.h"
#include "metalloid/reflection.h"
#include "metalloid/trace.h"
#include "metalloid/version.h"
