// <CoreFoundation/CoreFoundation.h>, as far as host code of kernels names it: objects of Foundation are its objects.
#pragma once

#include <TargetConditionals.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CF_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define CF_EXPORT extern __attribute__((visibility("default")))
#endif

typedef double CFTimeInterval;
typedef CFTimeInterval CFAbsoluteTime;
typedef long CFIndex;
typedef unsigned char Boolean;
typedef const void* CFTypeRef;
#ifdef __OBJC__
@class NSString, NSArray, NSDictionary;
#endif
typedef const struct __CFString* CFStringRef;
typedef const struct __CFArray* CFArrayRef;
typedef const struct __CFDictionary* CFDictionaryRef;

CF_EXPORT CFTypeRef CFRetain(CFTypeRef object);
CF_EXPORT void CFRelease(CFTypeRef object);
CF_EXPORT CFTypeRef CFAutorelease(CFTypeRef object);
CF_EXPORT CFIndex CFGetRetainCount(CFTypeRef object);
CF_EXPORT CFAbsoluteTime CFAbsoluteTimeGetCurrent(void);
