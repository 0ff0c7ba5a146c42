// <objc/objc-exception.h>: what @throw calls, and what sees each exception, or the one that nobody catches.
#pragma once

#include <objc/objc.h>

typedef id (*objc_exception_preprocessor)(id exception);
typedef void (*objc_uncaught_exception_handler)(id exception);

OBJC_EXTERN void objc_exception_throw(id exception) __attribute__((noreturn));
// Each gives back the one before.
OBJC_EXTERN objc_exception_preprocessor objc_setExceptionPreprocessor(objc_exception_preprocessor function);
OBJC_EXTERN objc_uncaught_exception_handler objc_setUncaughtExceptionHandler(objc_uncaught_exception_handler function);
