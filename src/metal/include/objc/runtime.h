// <objc/runtime.h>: classes, methods and selectors as programs ask for them.
#pragma once

#include <objc/objc.h>

typedef struct objc_method* Method;
#ifndef __OBJC__
typedef struct objc_object Protocol;
#else
@class Protocol;
#endif

OBJC_EXTERN Class objc_getClass(const char* name);
OBJC_EXTERN Class objc_lookUpClass(const char* name);
OBJC_EXTERN Class objc_getRequiredClass(const char* name);
OBJC_EXTERN Class objc_getMetaClass(const char* name);
OBJC_EXTERN Protocol* objc_getProtocol(const char* name);

OBJC_EXTERN Class object_getClass(id object);
OBJC_EXTERN const char* object_getClassName(id object);
OBJC_EXTERN id object_dispose(id object);
OBJC_EXTERN const char* class_getName(Class one);
OBJC_EXTERN Class class_getSuperclass(Class one);
OBJC_EXTERN bool class_isMetaClass(Class one);
OBJC_EXTERN size_t class_getInstanceSize(Class one);
OBJC_EXTERN id class_createInstance(Class one, size_t extra_bytes);
OBJC_EXTERN Method class_getInstanceMethod(Class one, SEL selector);
OBJC_EXTERN Method class_getClassMethod(Class one, SEL selector);
OBJC_EXTERN IMP class_getMethodImplementation(Class one, SEL selector);
OBJC_EXTERN bool class_respondsToSelector(Class one, SEL selector);
OBJC_EXTERN bool class_addMethod(Class one, SEL selector, IMP code, const char* types);
OBJC_EXTERN SEL method_getName(Method method);
OBJC_EXTERN const char* method_getTypeEncoding(Method method);
OBJC_EXTERN IMP method_getImplementation(Method method);
OBJC_EXTERN Class objc_allocateClassPair(Class superclass, const char* name, size_t extra_bytes);
OBJC_EXTERN void objc_registerClassPair(Class one);

OBJC_EXTERN SEL sel_registerName(const char* name);
OBJC_EXTERN SEL sel_getUid(const char* name);
OBJC_EXTERN const char* sel_getName(SEL selector);
OBJC_EXTERN bool sel_isEqual(SEL one, SEL other);

OBJC_EXTERN void* objc_autoreleasePoolPush(void);
OBJC_EXTERN void objc_autoreleasePoolPop(void* pool);
OBJC_EXTERN int objc_sync_enter(id object);
OBJC_EXTERN int objc_sync_exit(id object);

// How many objects there are: what a test compares before and after.
OBJC_EXTERN size_t metalloid_live_objects(void);
