#pragma once
#import <Metal/Metal.h>
