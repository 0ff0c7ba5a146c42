// <objc/objc.h>: the words of Objective-C that compilers do not bring.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Results of the library's own methods fill a register of 32 bits: who calls objc_msgSend by hand may read as many. The
// loader tells programs of bool where the compiler noted this structure.
#ifdef METALLOID_METAL_LIBRARY
struct BOOL {
  constexpr BOOL() = default;
  constexpr BOOL(bool is) : value(is) {}
  constexpr operator bool() const { return value != 0; }
  int value = 0;
};
#else
typedef bool BOOL;
#endif
#define YES true
#define NO false
#define OBJC_BOOL_IS_BOOL 1
typedef long NSInteger;
typedef unsigned long NSUInteger;

#ifdef __cplusplus
#define OBJC_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define OBJC_EXTERN extern __attribute__((visibility("default")))
#endif
#define OBJC_EXPORT OBJC_EXTERN

#ifndef __OBJC__
typedef struct objc_class* Class;
typedef struct objc_object {
  Class isa;
}* id;
typedef struct objc_selector* SEL;
#else
struct objc_object {
  Class isa;
};
#endif
#ifndef nil
#ifdef __cplusplus
#define nil nullptr
#define Nil nullptr
#else
#define nil ((void*)0)
#define Nil ((void*)0)
#endif
#endif

typedef id (*IMP)(id, SEL, ...);
