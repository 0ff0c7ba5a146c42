// What the files of Foundation share.
#pragma once

#import <Foundation/Foundation.h>

#include <string>

#include "host/objc/runtime.h"

namespace metalloid::objective_c {

enum class NumberKind : int { integer, natural, real };

NSString* string_of(const std::string& text);
std::string describe(id object);
NSError* error_of(const std::string& message);
inline bool responds(id object, SEL selector) {
  return responds((__bridge void*)object, reinterpret_cast<Selector*>(selector)->name);
}

}  // namespace metalloid::objective_c
