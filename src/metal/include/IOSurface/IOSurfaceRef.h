// <IOSurface/IOSurfaceRef.h>: a type that headers name.
#pragma once
typedef struct __IOSurface* IOSurfaceRef;
