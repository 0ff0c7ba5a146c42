// <Metal/Metal.h>: what host code of compute kernels uses.
#pragma once

#import <Metal/MTLCaptureManager.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLCounters.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>
