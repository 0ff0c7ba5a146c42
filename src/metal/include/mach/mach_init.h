// <mach/mach_init.h>: all of it is in mach.h.
#pragma once
#include <mach/mach.h>
