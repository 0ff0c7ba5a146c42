// <CoreGraphics/CoreGraphics.h>: a name only.
#pragma once
#include <CoreFoundation/CoreFoundation.h>
