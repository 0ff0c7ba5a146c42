// <Foundation/NSObject.h>: all of Foundation.
#pragma once
#import <Foundation/Foundation.h>
