// <objc/objc.h>: the words of Objective-C that compilers do not bring.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool BOOL;
#define YES true
#define NO false

#ifdef __cplusplus
#define nil nullptr
#define Nil nullptr
#define OBJC_EXTERN extern "C" __attribute__((visibility("default")))
#else
#define nil ((void*)0)
#define Nil ((void*)0)
#define OBJC_EXTERN extern __attribute__((visibility("default")))
#endif

typedef id (*IMP)(id, SEL, ...);
