// <MetalKit/MetalKit.h>: Metal alone.
#pragma once
#import <Metal/Metal.h>
