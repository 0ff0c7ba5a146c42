// <Availability.h>: every version of macOS is new enough.
#pragma once

#define __MAC_13_0 130000
#define __MAC_14_0 140000
#define __MAC_15_0 150000
#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_CLASS_AVAILABLE(...)
#define NS_DEPRECATED(...)
#define NS_SWIFT_NAME(...)
