// What the files of Foundation share, and those that stand on it.
#pragma once

#import <Foundation/Foundation.h>

#include <string>
#include <string_view>

#include "metal/objc/runtime.h"

namespace metalloid::objective_c {

NSString* string_of(std::string_view text);
// A string's text, or a description; "(null)" for nil.
std::string describe(id object);
// "" for nil.
std::string_view text_of(NSString* string);
// "%@" is an object's description; all others are C's.
std::string formatted(NSString* format, va_list arguments);
NSError* error_of(NSErrorDomain domain, NSInteger code, std::string_view message);
// As on a Mac, or as the host's exception.
[[noreturn]] void raise_invalid_argument(const std::string& reason);
[[noreturn]] void raise_out_of_range(const std::string& reason);
inline bool responds(id object, SEL selector) {
  return responds((__bridge void*)object, reinterpret_cast<Selector*>(selector)->name);
}

}  // namespace metalloid::objective_c
