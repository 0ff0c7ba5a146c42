// CoreFoundation's calls on objects of Foundation.
#include <CoreFoundation/CoreFoundation.h>

#include <ctime>

#include "metal/objc/runtime.h"
#include "metalloid/metal/object.h"

extern "C" {

CFTypeRef CFRetain(CFTypeRef object) { return objc_retain(const_cast<void*>(object)); }
void CFRelease(CFTypeRef object) { objc_release(const_cast<void*>(object)); }

CFTypeRef CFAutorelease(CFTypeRef object) {
  metalloid::objective_c::autorelease(const_cast<void*>(object));
  return object;
}

CFIndex CFGetRetainCount(CFTypeRef object) {
  return metalloid::metal::is_object(object) ? static_cast<const metalloid::metal::Object*>(object)->references.load()
                                             : 1;
}

// Seconds since the beginning of 2001.
CFAbsoluteTime CFAbsoluteTimeGetCurrent() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - 978307200;
}

}  // extern "C"
